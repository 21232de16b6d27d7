"""The command line. Its commands, a module each, import nothing heavy before they run."""

import atexit
import gc

import click

from trustreport.commands.build import build
from trustreport.commands.calculate import calculate, table
from trustreport.commands.check import check
from trustreport.commands.demo import demo
from trustreport.commands.doctor import doctor, list_packs
from trustreport.commands.export import compare, export
from trustreport.commands.fleet import fleet
from trustreport.commands.init import init
from trustreport.commands.lock import lock
from trustreport.commands.next_period import next_period
from trustreport.commands.plan import plan_study
from trustreport.commands.pooling import pool, site
from trustreport.commands.service import audit_log, backup, restore, serve, worker
from trustreport.commands.signatures import sign, verify
from trustreport.report.layout.pipes import seldom_collect
from trustreport.vocabulary.version import __version__

FIRST_STEPS = """\
trustreport demo                    a report of each kind from data that come with it
trustreport init --from TABLE...    a manifest proposed from your tables
trustreport build FOLDER -o OUT     the report
All commands: trustreport --help"""


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="trustreport")
@click.pass_context
def main(context: click.Context) -> None:
    """Build reports on the trustworthiness of a medical AI from a folder of data and a manifest.

    Exit status: 0 done, 1 problems in the input, 2 wrong usage, 3 done, but a criterion has a verdict that
    --fail-on names.
    """
    seldom_collect()  # a command imports much and ends; servers go back to what is usual
    if context.invoked_subcommand is None:
        click.echo(FIRST_STEPS)
    atexit.register(gc.freeze)  # nor does anybody gain by the search at the end, which can take a second


OF_STUDIES = (
    *(demo, init, check, lock, build, next_period, fleet, site, pool),
    *(compare, export, sign, verify, plan_study, calculate),
)
OF_THE_SERVICE = (serve, worker, audit_log, backup, restore)
for command in (*OF_STUDIES, *OF_THE_SERVICE, list_packs, doctor):
    main.add_command(command)
main.add_command(table, "infer")  # the name under which it came first
