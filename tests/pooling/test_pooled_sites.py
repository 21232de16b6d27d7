"""Site files made of data sets with sites: the report of the pool against that of all rows."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tests.pooling.attacker import recovered_cells
from tests.pooling.collaborations import drawn_rows, plan_of, pooled, study_of, summaries, table_of
from trustreport.api import read_study
from trustreport.api.sites import Signers, pool_sites, read_sites, summarise_site
from trustreport.assessment.assess import Assessment, assess
from trustreport.assessment.site_summary.scoring import OF_RISKS
from trustreport.commands.cli import main
from trustreport.study.pooled.site_file import DisclosureRules
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.results import Result

REAL = Path(__file__).resolve().parents[1] / "reference" / "contract"
ANYBODY = Signers({}, unverified=True)
MANIFEST = """\
report: {{kind: certification, title: real, date: 2026-11-01, confidence_level: 0.95}}
device: {{trade_name: X, software_version: "1", manufacturer: none}}
operating_point: {{threshold: {threshold}, score_range: [0, 1], threshold_origin: fixed by the manufacturer}}
utility: {{thresholds: [0.3, 0.5]}}
reference_standard: {{definition: follow-up, type: follow-up, applied_to: all}}
subgroups: [{{name: age, breaks: [55], prespecified: true}}]
datasets: [{{dataset: external, role: external, columns: {{truth: label}}}}]
endpoints:
  - &goal
    {{endpoint: finds, measure: advice_accuracy.sensitivity, dataset: external, alpha: 0.025, role: primary,
     hypothesis: performance goal, bound_or_margin: 0.55}}
  - {{<<: *goal, endpoint: clears, measure: advice_accuracy.specificity, bound_or_margin: 0.6}}
  - {{<<: *goal, endpoint: high, measure: advice_accuracy.ppv, bound_or_margin: 0.8}}
  - {{<<: *goal, endpoint: older, subgroup: age >= 55, bound_or_margin: 0.5}}
  - {{<<: *goal, endpoint: expected, measure: advice_value.oe_ratio, hypothesis: equivalence,
     bound_or_margin: [0.5, 2]}}
  - {{<<: *goal, endpoint: mean, measure: potential_robustness.pooled_performance, of: auc, dataset: null,
     bound_or_margin: 0.6}}
  - {{<<: *goal, endpoint: further, measure: potential_robustness.prediction_interval, of: sensitivity,
     dataset: null, bound_or_margin: 0.5}}
"""


def rows_of(case: str) -> list[dict[str, str]]:
    """The cases of all external sets of a data set, each with its hospital."""
    found = []
    for file in sorted((REAL / case).glob("*ext*.csv")):
        found += list(csv.DictReader(file.read_text().splitlines()))
    sites = sorted({row["site"] for row in found})
    rng = np.random.default_rng(3)
    for row in found:
        # five sites: those of the set, the large ones parted at random
        part = rng.integers(0, 5) if len(sites) < 3 else sites.index(row["site"]) + (rng.random() < 0.5) * 2
        row["hospital"] = "ABCDE"[int(part)]
    return found


def write(folder: Path, rows: list[dict[str, str]], *, site: bool, threshold: float) -> Path:
    folder.mkdir()
    columns = ["label", "score", "age", *(["hospital"] if site else [])]
    with (folder / "data.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    text = MANIFEST.format(threshold=threshold)
    (folder / "study.yaml").write_text(text)
    return folder


def locked(folders: list[Path], run: Callable[..., Any]) -> None:
    """The lock of the declarations alone; then each folder says which file it has."""
    run("lock", folders[-1])
    lock = (folders[-1] / "criteria.lock.json").read_bytes()
    for folder in folders:
        if folder.name != "all":
            (folder / "criteria.lock.json").write_bytes(lock)
        manifest = folder / "study.yaml"
        where = ", site: hospital" if folder.name == "all" else ""
        text = manifest.read_text().replace("role: external, ", "role: external, file: data.csv, ")
        manifest.write_text(text.replace("truth: label", f"truth: label{where}"))
        if folder.name == "all":
            run("lock", folder)


def run(*words: object) -> str:
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output


CASES = {"heart": ("heart", 0.5, 0), "breast": ("breast", 0.3, 5)}  # Swiss hearts are few: no limit


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """The assessments of a real data set with all rows, and of five site files."""
    case, threshold, fewest = request.param
    home, rows = tmp_path_factory.mktemp(case), rows_of(case)
    folders = [write(home / "all", rows, site=True, threshold=threshold)]
    for site in "ABCDE":
        own = [row for row in rows if row["hospital"] == site]
        folders.append(write(home / site, own, site=False, threshold=threshold))
    locked(folders, run)
    files = [home / f"{folder.name}.json" for folder in folders[1:]]
    for folder, file in zip(folders[1:], files):
        run("site", folder, "--site", folder.name, "-o", file, "--fewest", fewest)
    whole = assess(*read_study(folders[0]))
    return whole, assess(*pool_sites(read_sites(files, ANYBODY)))


def primary(assessment: Assessment) -> dict[str, Result]:
    return {
        json.dumps([r.id, r.scope, r.analysis, r.method], sort_keys=True, default=str): r
        for r in assessment.results
        if r.primary
    }


def test_verdicts_of_real_sites_are_those_of_all_rows(both: tuple[Assessment, Assessment]) -> None:
    words = [{v.criterion.endpoint: v.word for v in one.verdicts} for one in both]
    assert words[1] == words[0]
    assert "pass" in words[0].values()


def test_numbers_of_real_sites_are_those_of_all_rows(both: tuple[Assessment, Assessment]) -> None:
    rows, sites = map(primary, both)
    shared = [key for key in sites if key in rows and not np.isnan(sites[key].estimate.value)]
    assert len(shared) > 200
    for key in shared:
        a, b = rows[key].estimate, sites[key].estimate
        numbers = [(e.value, e.low, e.high) for e in (a, b)]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-9, abs=1e-12, nan_ok=True), key
        assert a.n == b.n, key


def documented() -> list[tuple[str, str, list[str]]]:
    """Rows of the table of numbers of a pool: what becomes of them, of what they are, their keys."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "statistics.md").read_text("utf-8")
    section = page.partition("## Numbers of pooled site files")[2].partition("\n## ")[0]
    found = re.findall(r"^\| (equal|bounded|not given) \| ([^|]+) \| (.+) \|$", section, re.M)
    return [(word, place, re.findall(r"`(\w+)`", keys)) for word, place, keys in found]


def test_every_number_is_as_documented(both: tuple[Assessment, Assessment]) -> None:
    rows, sites = map(primary, both)
    named = set()
    for word, place, keys in documented():
        for key in keys:
            named.add(key)
            own = {
                name: r.estimate
                for name, r in {**rows, **sites}.items()
                if r.id.rpartition(".")[2] == key
                and (place != "each hospital" or r.place.site is not None)
                and (place != "all cases" or r.place.site is None)
            }
            given = [name for name in own if name in sites and not np.isnan(sites[name].estimate.value)]
            if word != "equal":
                assert given == [], key
                assert own, key
                continue
            assert given, key
            for name in given:
                numbers = [(e.value, e.low, e.high) for e in (rows[name].estimate, sites[name].estimate)]
                assert numbers[1] == pytest.approx(numbers[0], rel=1e-12, abs=1e-14, nan_ok=True), name
    known = {r.id.rpartition(".")[2] for r in rows.values() if not np.isnan(r.estimate.value)}
    assert known <= named


def test_the_area_of_all_cases_lies_between_its_printed_bounds(both: tuple[Assessment, Assessment]) -> None:
    rows, sites = (
        next(r for r in one.results if r.id == "advice_accuracy.auc" and r.primary and r.place.site is None)
        for one in both
    )
    said = next(m for m in sites.estimate.note.messages if m.key == "note.area_over_all_between")
    assert said.values["low"] <= rows.estimate.value <= said.values["high"]
    assert said.values["high"] - said.values["low"] < 0.2


# ---------------------------------------------------------------- drawn collaborations

ASKED = ("advice_accuracy", "potential_robustness", "subgroups")
ORDER = ("not assessable", "not tested", "fail", "inconclusive", "pass")


@pytest.mark.parametrize("seed", range(12))
def test_no_verdict_is_better_than_with_all_rows(seed: int) -> None:
    """The same for 2,000 draws: benchmarks/collaborations.py."""
    rng = np.random.default_rng(seed)
    plan, rows = plan_of(), drawn_rows(rng, 3, (40, 260) if seed % 2 else (150, 700))
    files = summaries(rows, plan, DisclosureRules(fewest=int(rng.choice([0, 3, 5]))), ("reported",))
    whole = assess(study_of(rows, plan), plan, only=ASKED)
    with_rows = {v.criterion.endpoint: v.word for v in whole.verdicts}
    for verdict in pooled(files, ASKED).verdicts:
        word = with_rows[verdict.criterion.endpoint]
        assert verdict.word != "pass" or word == "pass", verdict.criterion.endpoint
        assert verdict.word != "inconclusive" or word != "fail", verdict.criterion.endpoint


@pytest.mark.parametrize("seed", range(4))
def test_patients_with_several_cases_make_no_interval_narrower(seed: int) -> None:
    plan = plan_of(
        subgroups=[],
        datasets=[{"dataset": "external", "role": "external", "cluster_keys": ["patient"]}],
        endpoints=[
            e
            for e in plan_of().model_dump(mode="json", exclude_none=True)["endpoints"]
            if "subgroup" not in e
        ],
    )
    rows = drawn_rows(np.random.default_rng(seed), 4, (150, 300))
    rows["score"] = np.where(np.isnan(rows["score"]), 0.3, rows["score"])
    rows["patient"] = np.arange(len(rows["site"])) // 3 + 10_000 * rows["site"]
    sites, whole = (
        pooled(summaries(rows, plan, DisclosureRules(fewest=3), ())),
        assess(study_of(rows, plan), plan),
    )
    words = {v.criterion.endpoint: v.word for v in whole.verdicts}
    assert all(v.word != "pass" or words[v.criterion.endpoint] == "pass" for v in sites.verdicts)
    every, compared = primary(whole), 0
    for key, r in primary(sites).items():
        a, b = (one.estimate for one in (every.get(key, r), r))
        if key in every and r.place.population is None and not np.isnan([a.low, a.high, b.low, b.high]).any():
            assert b.high - b.low >= (a.high - a.low) * (1 - 1e-9), key
            compared += 1
    assert compared > 10


@pytest.mark.parametrize("seed", range(100, 112))
def test_no_withheld_count_is_given_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plan = (
        plan_of(operating_point={"threshold": 0.5, "indeterminate_as": "positive"}) if seed % 2 else plan_of()
    )
    rows, fewest = drawn_rows(rng, 2, (20, 200)), int(rng.choice([3, 5, 10]))
    for i, file in enumerate(summaries(rows, plan, DisclosureRules(fewest=fewest), ("reported",))):
        assert recovered_cells(file.datasets[0], table_of(rows, plan, i), fewest) == []


def test_the_attacker_finds_what_is_left_by_a_difference() -> None:
    rows, plan = drawn_rows(np.random.default_rng(9), 2, (60, 90)), plan_of()
    file = summaries(rows, plan, DisclosureRules(fewest=0), ("reported",))[0].datasets[0]
    assert recovered_cells(file, table_of(rows, plan, 0), 5)
    sex = next(one for one in file.groups if one.columns == ("sex",))
    men = sex.model_copy(update={"levels": tuple(level for level in sex.levels if level.values != ("F",))})
    less = file.model_copy(update={"groups": (men,), "scores": {}})
    women = {key: n for key, n in table_of(rows, plan, 0).items() if key[2] == "F"}
    small = min(sum(n for key, n in women.items() if key[:2] == cell) for cell in {key[:2] for key in women})
    assert any(" F: " in found for found in recovered_cells(less, table_of(rows, plan, 0), small + 1))


def test_without_a_limit_everything_is_handed_over() -> None:
    rows = drawn_rows(np.random.default_rng(5), 3, (40, 90))
    files = summaries(rows, plan_of(), DisclosureRules(fewest=0), ("reported",))
    assert [one.withheld for one in files] == [(), (), ()]


def test_each_site_compares_itself_with_training_data_that_all_were_sent(tmp_path: Path) -> None:
    columns = "label,score,age,thalach"
    manifest = MANIFEST.format(threshold=0.5).replace(
        "datasets: [",
        "similarity: {standardise: training, permutations: 99, seed: 1}\n"
        "datasets: [{dataset: sent, role: training, file: sent.csv, columns: {truth: label},"
        " features: [age, thalach]}, ",
    )
    manifest = manifest.replace(
        "truth: label}}]", "truth: label}, file: data.csv, features: [age, thalach]}]"
    )
    files = []
    for site, name in (("A", "hungarian"), ("B", "va")):
        home = tmp_path / site
        home.mkdir()
        (home / "study.yaml").write_text(manifest)
        for file, source in (("sent.csv", "heart_train.csv"), ("data.csv", f"heart_ext_{name}.csv")):
            rows = csv.DictReader((REAL / "heart" / source).read_text().splitlines())
            lines = [",".join(row[c] for c in columns.split(",")) for row in rows]
            (home / file).write_text("\n".join([columns, *lines]))
        if site == "A":
            run("lock", home)
        (home / "criteria.lock.json").write_bytes((tmp_path / "A" / "criteria.lock.json").read_bytes())
        files.append(tmp_path / f"{site}.json")
        run("site", home, "--site", site, "-o", files[-1], "--fewest", 0)
    found = assess(*pool_sites(read_sites(files, ANYBODY)))
    degrees = {
        r.place.site: r.estimate.value
        for r in found.results
        if r.name == "degree_of_correspondence" and r.place.site and "subsample" not in r.parameters
    }
    for site in "AB":
        alone = assess(*read_study(tmp_path / site), only=("potential_robustness",))
        own = [
            r
            for r in alone.results
            if r.name == "degree_of_correspondence" and "subsample" not in r.parameters
        ]
        assert degrees[site] == own[0].estimate.value
    means = [r for r in found.results if r.name == "degree_of_correspondence" and r.place.population]
    assert means == []


# ---------------------------------------------------------------- what does not fit


@pytest.fixture
def sites(tmp_path: Path) -> list[Path]:
    """Folders of two sites under one lock."""
    rows = rows_of("heart")
    folders = []
    for site in "AB":
        own = [row for row in rows if row["hospital"] == site]
        folders.append(write(tmp_path / site, own, site=False, threshold=0.5))
    locked(folders, run)
    return folders


def refused(*words: object) -> str:
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 1, done.output
    assert isinstance(done.exception, SystemExit), repr(done.exception)
    return done.output


def key_of(folder: Path, name: str) -> tuple[Path, str]:
    """A private key in a file, and its public key under a name."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    (folder / f"{name}.pem").write_bytes(private)
    public = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    return folder / f"{name}.pem", f"{name}\n{public.decode()}"


def test_only_signed_files_of_known_keys_are_taken(sites: list[Path], tmp_path: Path) -> None:
    (own, public), (stranger, _) = key_of(tmp_path, "North"), key_of(tmp_path, "Stranger")
    (tmp_path / "signers.pem").write_text(public)
    files = [tmp_path / f"{one.name}.json" for one in sites]
    for folder, file in zip(sites, files):
        run("site", folder, "--site", folder.name, "-o", file, "--key", own)
    pool = (
        "pool",
        *files,
        "-o",
        tmp_path / "out",
        "--formats",
        "json",
        "--signers",
        tmp_path / "signers.pem",
    )
    run(*pool)
    inputs = json.loads((tmp_path / "out" / "results.json").read_text())["provenance"]["inputs"]
    assert [one["signer"] for one in inputs] == ["North", "North"]
    run("site", sites[0], "--site", "A", "-o", files[0], "--key", stranger)
    assert "A.json: no signature in it is of one of the signers" in refused(*pool)
    run("site", sites[0], "--site", "A", "-o", files[0])
    assert "A.json: nobody signed it" in refused(*pool)
    text = files[1].read_text()
    files[1].write_text(text.replace('"payload": "ey', '"payload": "ez'))
    assert "B.json" in refused(*pool)


def test_a_changed_manifest_makes_no_site_file(sites: list[Path], tmp_path: Path) -> None:
    manifest = sites[0] / "study.yaml"
    manifest.write_text(manifest.read_text().replace("bound_or_margin: 0.55", "bound_or_margin: 0.5"))
    said = refused("site", sites[0], "--site", "A", "-o", tmp_path / "A.json")
    assert "differs from the lock in endpoints[finds].bound_or_margin" in said
    assert not (tmp_path / "A.json").exists()
    (sites[1] / "criteria.lock.json").unlink()
    assert "there is no lock" in refused("site", sites[1], "--site", "B", "-o", tmp_path / "B.json")


def test_files_that_do_not_fit_are_refused_by_name(sites: list[Path], tmp_path: Path) -> None:
    files = [tmp_path / f"{one.name}.json" for one in sites]
    for folder, file in zip(sites, files):
        run("site", folder, "--site", folder.name, "-o", file)
    pool = ("--unverified", "-o", tmp_path / "out", "--formats", "json")
    assert "files of two sites at least" in refused("pool", files[0], *pool)
    said = json.loads(files[1].read_text())
    other = json.dumps({**said, "software": {**said["software"], "trustreport": "0.0.1"}})
    files[1].write_text(other)
    assert "used trustreport 0.0.1" in refused("pool", *files, *pool)
    files[1].write_text(json.dumps({**said, "data": json.loads(files[0].read_text())["data"]}))
    assert "B counted the same data file as A" in refused("pool", *files, *pool)
    again = json.loads(files[0].read_text())
    again["datasets"][0]["patterns"][0]["n"] += 1
    (tmp_path / "A2.json").write_text(json.dumps(again))
    files[1].write_text(json.dumps(said))
    assert "A answers external otherwise than in" in refused("pool", *files, tmp_path / "A2.json", *pool)
    files[1].write_text("{}")
    assert "B.json: " in refused("pool", *files, *pool)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("checks", 0, "message", "key"), "checks.P99.clear", "is no text of this version"),
        (("datasets", 0, "patterns", 0, "n"), -1, "patterns.0.n"),
        (("datasets", 0, "patterns", 0, "truth"), 2, "patterns.0.truth"),
        (("form",), "trustreport site summary 9", "form"),
        (("more",), 1, "more"),
    ],
)
def test_what_a_file_may_not_hold_is_named(
    sites: list[Path], tmp_path: Path, path: tuple[Any, ...], value: Any, said: str
) -> None:
    for folder in sites:
        run("site", folder, "--site", folder.name, "-o", tmp_path / f"{folder.name}.json")
    file = tmp_path / "A.json"
    whole = held = json.loads(file.read_text())
    for key in path[:-1]:
        held = held[key]
    held[path[-1]] = value
    file.write_text(json.dumps(whole))
    done = refused("pool", file, tmp_path / "B.json", "--unverified", "-o", tmp_path / "out")
    assert "A.json" in done
    assert said in done


def test_clusters_without_cells_hand_over_nothing_that_is_made_of_cells() -> None:
    plan = plan_of(
        subgroups=[],
        datasets=[{"dataset": "external", "role": "external", "cluster_keys": ["patient"]}],
        endpoints=[{"endpoint": "finds", "measure": "advice_accuracy.sensitivity", "role": "primary",
                    "hypothesis": "performance goal", "bound_or_margin": 0.5, "alpha": 0.025}],
    )  # fmt: skip
    rows = drawn_rows(np.random.default_rng(2), 2, (200, 300))
    rows["score"] = np.where(rows["truth"] == 1, 0.9, 0.1) + np.arange(len(rows["site"])) * 1e-5
    rows["score"][np.flatnonzero(rows["truth"] == 1)[::40]] = 0.2  # a few are missed
    rows["patient"] = np.arange(len(rows["site"])) // 3
    for one in summaries(rows, plan, DisclosureRules(fewest=10), ("reported",)):
        assert [w.what for w in one.withheld if w.what in ("cells", "scores")] != []
        for scores in one.datasets[0].scores.values():
            assert set(scores.estimates) <= {"auc", *OF_RISKS}


def test_files_under_another_lock_are_refused(sites: list[Path], tmp_path: Path) -> None:
    manifest = sites[1] / "study.yaml"
    manifest.write_text(manifest.read_text().replace("bound_or_margin: 0.55", "bound_or_margin: 0.5"))
    (sites[1] / "criteria.lock.json").unlink()
    run("lock", sites[1])
    for folder in sites:
        run("site", folder, "--site", folder.name, "-o", tmp_path / f"{folder.name}.json")
    said = refused("pool", tmp_path / "A.json", tmp_path / "B.json", "--unverified", "-o", tmp_path / "out")
    assert "is under the lock" in said


def test_data_of_several_sites_make_no_site_file(sites: list[Path]) -> None:
    manifest, data = sites[0] / "study.yaml", sites[0] / "data.csv"
    lines = data.read_text().splitlines()
    data.write_text(
        "\n".join([lines[0] + ",where", *(f"{line},{i % 2}" for i, line in enumerate(lines[1:]))])
    )
    text = manifest.read_text().replace("truth: label", "truth: label, site: where")
    manifest.write_text(text)
    (sites[0] / "criteria.lock.json").unlink()
    run("lock", sites[0])
    with pytest.raises(StudyError, match="is of several sites"):
        summarise_site(sites[0], "A")
