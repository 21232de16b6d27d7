"""Site files as the metrics container of a MedPerf benchmark: its task `evaluate`.

The image holds the shared manifest and lock (TRUSTREPORT_STUDY). MedPerf mounts the tables of the site in
`labels`, those of the model in `predictions`; tables of one name are joined by the column `case`. The file
`site.txt` of `labels`, which the data preparation wrote, has the name of the site. The results, which the
site sees before it sends them, include the site file as text.

    python -m trustreport.api.federated.medperf [evaluate --labels ... --predictions ...]
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from ruamel.yaml import YAML

from trustreport.api.federated.node import NodeSettings, node_file

VOLUMES = Path("/mlcommons/volumes")
NAME = "site.txt"
CASE = "case"


def evaluate(predictions: Path, labels: Path, parameters_file: Path, output_path: Path) -> None:
    """Write the results of one site: `site`, and `site_file` with the file as text.

    Parameters
    ----------
    predictions, labels : folders of tables, named as in the manifest
    parameters_file : YAML; `fewest`, where the benchmark withholds larger counts than the node does
    output_path : YAML to write

    Raises
    ------
    NoSiteFileError : no file was made
    """
    yaml = YAML(typ="safe")
    asked = yaml.load(parameters_file) or {}
    name = labels / NAME
    own = NodeSettings.from_environment(
        site=name.read_text(encoding="utf-8").strip() if name.is_file() else ""
    )
    settings = replace(own, fewest=max(own.fewest, int(asked.get("fewest", 0))))
    with TemporaryDirectory() as home:
        data = node_file(settings, tables(labels, predictions, Path(home)))
    yaml.dump({"site": settings.site, "site_file": data.decode()}, output_path)


def tables(labels: Path, predictions: Path, home: Path) -> Iterator[tuple[str, Path]]:
    """The tables of both folders with their names; a joined one is written to `home`.

    Raises
    ------
    ValueError : a case is predicted that has no label, or a table has one twice
    """
    found = {file.name: file for file in sorted(labels.iterdir()) if file.is_file() and file.name != NAME}
    for file in sorted(one for one in predictions.iterdir() if one.is_file()):
        if (own := found.get(file.name)) is not None:
            with_truth, scored = (pd.read_csv(one, dtype=str, keep_default_na=False) for one in (own, file))
            if not set(scored[CASE]) <= set(with_truth[CASE]):
                raise ValueError("a prediction is of no case with a label")
            file = home / file.name
            with_truth.merge(scored, "left", CASE, validate="one_to_one").to_csv(file, index=False)
        found[file.name] = file
    yield from found.items()


def main(words: list[str] | None = None) -> None:
    """Run the task with the paths that are given, else with those where MedPerf mounts its volumes."""
    parser = argparse.ArgumentParser(description="The task evaluate of a MedPerf metrics container.")
    parser.add_argument("task", nargs="?", choices=["evaluate"], default="evaluate")
    parser.add_argument("--predictions", type=Path, default=VOLUMES / "predictions")
    parser.add_argument("--labels", type=Path, default=VOLUMES / "labels")
    parser.add_argument(
        "--parameters_file", type=Path, default=VOLUMES / "parameters" / "parameters_file.yaml"
    )
    parser.add_argument("--output_path", type=Path, default=VOLUMES / "results" / "results.yaml")
    said = parser.parse_args(words)
    evaluate(said.predictions, said.labels, said.parameters_file, said.output_path)


if __name__ == "__main__":
    main()
