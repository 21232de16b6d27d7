"""`trustreport packs`: the checklists of frameworks."""

import click

from trustreport.commands.output import print_columns


@click.command(name="packs")
@click.argument("pack", required=False)
def list_packs(pack: str | None) -> None:
    """List the rule packs (checklists of frameworks), or the items of PACK.

    The manifest names packs under report.rule_packs. Items are computed (C), declared (D) or supplied
    elsewhere (O). "Verified" means that the item number was compared with the text of the framework.
    """
    from trustreport.vocabulary import packs

    if pack is None:
        rows = [("id", "framework", "edition", "items", "verified")]
        for name in packs.ids():
            one = packs.load(name)
            rows.append((name, one.framework, one.edition, str(len(one.items)), str(one.verified)))
        print_columns(rows)
        return
    found = next((one.id for one in packs.find([pack])), "")
    if not found:
        raise click.BadParameter(f"{pack}; choose from {', '.join(packs.ids())}", param_hint="PACK")
    one = packs.load(found)
    click.echo(f"{one.framework}. {one.edition}. {one.legal_status} (as of {one.legal_status_on}).")
    click.echo(f"Text: {one.source}. Item numbers compared with {one.compared_with}.")
    rows = [("item", "status", "elements", "number", "about")]
    for item in one.items:
        number = f"verified {item.verified_on}" if item.verified else "not verified"
        rows.append((item.id, item.status, " ".join(item.elements), number, item.description))
    print_columns(rows)
