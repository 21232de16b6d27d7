"""What is written about running the service holds."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from fastapi import FastAPI
from ruamel.yaml import YAML
from services import API, Client, world
from sqlalchemy import select, update

from trustreport.commands.cli import main
from trustreport.service.core import Core
from trustreport.service.roles import ROLES
from trustreport.service.server import ADMIN
from trustreport.service.settings import Settings, Unsuitable, from_environment
from trustreport.service.storage.models import Job

ROOT = Path(__file__).parents[2]
MANUAL = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
PACKAGING = sorted(p for p in (ROOT / "packaging").iterdir() if p.is_file())
NAMES = {f.name.upper() for f in fields(Settings)}


@pytest.mark.parametrize("file", [*PACKAGING, ROOT / "docs" / "service.md"], ids=lambda p: p.name)
def test_every_variable_that_is_named_exists(file: Path) -> None:
    for name in re.findall(r"TRUSTREPORT_[A-Z_]+", file.read_text(encoding="utf-8")):
        short = name.removeprefix("TRUSTREPORT_").removesuffix("_FILE")
        assert name in ADMIN or short in {*NAMES, "NAME"}, name


def test_the_manual_lists_every_setting_role_and_resource(app: FastAPI) -> None:
    table = MANUAL[MANUAL.index("## Settings") :]
    assert {name for name in NAMES - {"DATA"} if f"`{name}`" not in table} == set()
    assert {role for role in ROLES if f"| {role} |" not in MANUAL} == set()
    named = {path.split("?")[0] for path in re.findall(r"^    (?:GET|POST) +(/\S+)", MANUAL, re.MULTILINE)}
    assert len(named) > 10
    paths = {path.removeprefix(API) for path in app.openapi()["paths"]}
    assert named <= paths


def test_the_packaging_starts_commands_that_exist() -> None:
    compose = YAML(typ="safe").load((ROOT / "packaging" / "compose.yaml").read_text())
    started = {service["command"][0] for service in compose["services"].values() if "command" in service}
    unit = re.search(
        r"^ExecStart=\S+/trustreport (\w+)", (ROOT / "packaging/trustreport.service").read_text(), re.M
    )
    assert unit
    assert {*started, unit[1]} <= set(main.commands)
    copied = re.findall(r"^COPY (.*) \S+$", (ROOT / "packaging/Containerfile").read_text(), re.MULTILINE)
    assert all((ROOT / name).exists() for names in copied for name in names.split())


def test_alerts_are_of_numbers_that_the_service_gives(light: Core) -> None:
    alerts = YAML(typ="safe").load((ROOT / "packaging" / "alerts.yaml").read_text())
    rules = [rule for group in alerts["groups"] for rule in group["rules"]]
    light.metrics.requests.labels("GET", "/ready", 200).inc()
    light.metrics.seconds.labels("GET", "/ready").observe(0.01)
    light.metrics.refused.labels("login").inc()
    with light.store.read() as rows:
        given = light.metrics.text(rows, 0, 0, light.settings.data).decode()
    for rule in rules:
        assert {"summary", "action"} == set(rule["annotations"])
        for name in re.findall(r"trustreport_\w+", rule["expr"]):
            assert re.search(rf"^{name}[{{ ]", given, re.MULTILINE), name
    assert "trustreport_oldest_waiting_seconds 0.0" in given


def test_the_number_of_the_job_that_waits_longest(light: Core, anna: Client) -> None:
    world(light, anna)
    with light.store.write() as rows:
        rows.execute(update(Job).values(state="queued"))
        asked = rows.scalar(select(Job.created_at))
        given = light.metrics.text(rows, 0, asked + 90_000, light.settings.data).decode()
    assert "trustreport_oldest_waiting_seconds 90.0" in given


def test_a_setting_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "database").write_text("postgresql://u:p@db/x\n")
    variables = {"TRUSTREPORT_DATABASE_FILE": str(tmp_path / "database")}
    assert from_environment(tmp_path, variables).address == "postgresql+psycopg://u:p@db/x"
    with pytest.raises(Unsuitable, match="cannot be read"):
        from_environment(tmp_path, {"TRUSTREPORT_DATABASE_FILE": str(tmp_path / "none")})
