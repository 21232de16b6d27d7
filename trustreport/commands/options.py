"""Options that several commands have."""

import click

allow_outside_option = click.option(
    "--allow-outside", is_flag=True, help="Allow the manifest to name files outside its folder."
)
