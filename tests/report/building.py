"""The reports of the examples."""

from pathlib import Path

from click.testing import CliRunner

from trustreport.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def build(name: str, out: Path, formats: str = "html,pdf,annex,json") -> None:
    """Build the report of an example."""
    asked = ["build", str(EXAMPLES / name), "-o", str(out), "--formats", formats]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == 0, result.stderr
