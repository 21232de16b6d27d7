"""`trustreport plan`: readers and cases that a study needs."""

from pathlib import Path
from typing import Any

import click

from trustreport.commands.output import problems_on_stderr


@click.command(name="plan")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    help="File of the request (YAML or JSON), or the folder of a pilot study.",
)
@click.option("--design", help="crossed, split_plot, sequential, sites or device.")
@click.option("--endpoint", help="sensitivity, specificity, accuracy or auc.")
@click.option("--hypothesis", help="superiority, non_inferiority or equivalence.")
@click.option("--effect", help="True difference to find.")
@click.option("--margin", help="Largest acceptable loss, or difference of no consequence.")
@click.option("--power", help="Wished power (default: 0.8).")
@click.option("--width", help="Wished width of the interval, instead of a power.")
@click.option("--readers", help="Comma-separated numbers of readers.")
@click.option("--cases", help="Comma-separated numbers of cases of the endpoint's class.")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Any other field of the request, such as components.model=roe_metz; may be repeated.",
)
@click.option(
    "--chart",
    help="cusum or sprt: how late a monitoring chart alerts, instead of a reader study; its rates by --set.",
)
@click.option(
    "--labels",
    help="sensitivity, specificity, ppv, npv or prevalence: how many labelled cases people must read so that "
    "it can be measured against labels with error; the rates by --set.",
)
@click.option("--simulate", help="Number of simulated studies of each smallest size (default: 0).")
@click.option("--seed", help="Seed of the random numbers (default: 1).")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for plan.json, protocol.md, protocol.pdf and figure.svg.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("markdown", "json")),
    default="markdown",
    show_default=True,
    help="Form of what is printed.",
)
def plan_study(
    source: Path | None, sets: tuple[str, ...], out: Path | None, form: str, **given: str | None
) -> None:
    """Size a reader study before any data: readers x cases for a wished power or interval width.

    Example: plan --endpoint auc --effect 0.06 --set expected=0.8 --set components.model=roe_metz --set
    components.structure=HL. Prints the section of a protocol, with its assumptions.
    """
    wrong = [one for one in sets if "=" not in one]
    if wrong:
        raise click.BadParameter(f"{', '.join(wrong)}; write FIELD=VALUE", param_hint="--set")
    options: dict[str, Any] = dict(one.split("=", 1) for one in sets)
    for alone in ("chart", "labels"):
        asked = given.pop(alone)
        if asked is not None:
            if source is not None or out is not None or any(value is not None for value in given.values()):
                raise click.UsageError(f"--{alone} goes with --set and --format alone")
            _print_sentence({alone: asked, **options}, form)
            return
    if given["power"] is not None and given["width"] is not None:
        raise click.UsageError("--power and --width are two goals: choose one")
    for goal in ("power", "width"):
        target = given.pop(goal)
        if target is not None:
            options |= {"goal": goal, "target": target}
    for name, value in given.items():
        if value is not None:
            options[name] = value.split(",") if name in ("readers", "cases") else value
    file = source if source is not None and source.is_file() else None
    if source is not None and file is None:
        options["pilot"] = str(source)
    from trustreport.api import plan_reader_study, write_sizes

    with problems_on_stderr():
        sizes = plan_reader_study(file, **options)
    from trustreport.planning import protocol

    click.echo(protocol.to_json(sizes) if form == "json" else protocol.to_markdown(sizes), nl=False)
    if out is not None:
        written = write_sizes(sizes, out)
        for file in written:
            click.echo(file, err=True)
        if not any(file.suffix == ".pdf" for file in written):
            click.echo("No PDF: a library is missing. `trustreport doctor` says which.", err=True)


def _print_sentence(fields: dict[str, Any], form: str) -> None:
    """The delay of a monitoring chart or the cases to be read by hand, as a sentence or as JSON."""
    from trustreport.planning import chart_delay, hand_reading
    from trustreport.report.document import canonical
    from trustreport.vocabulary.messages import catalogue

    with problems_on_stderr():
        if "chart" in fields:
            found = chart_delay.plan_chart(fields)
            sentence = chart_delay.chart_sentence(found)
        else:
            found = hand_reading.plan_hand_reading(fields)
            sentence = hand_reading.hand_reading_sentence(found)
    click.echo(canonical(found) if form == "json" else catalogue("en")(sentence) + "\n", nl=False)
