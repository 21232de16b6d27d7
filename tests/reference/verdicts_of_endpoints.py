"""Write studies of values, preferences and labels with error, and the verdicts that their evidence allows.

What is allowed follows from how the data are drawn, not from any result of this project: the true value is
far on one side of the bound, or on it, or too few cases were drawn to tell. Run from the root of the project:
``python tests/reference/verdicts_of_endpoints.py`` (NumPy 2; the same bytes each time).
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent / "verdicts_of_endpoints"
HEAD = """\
report: {kind: certification}
device: {trade_name: Verdict case, software_version: "1.0"}
study: {sap_locked_at: 2026-01-01, data_opened_at: 2026-02-01}
"""
Row = tuple[Any, ...]


def criterion(name: str, measure: str, hypothesis: str, bound: float | str, **more: str) -> str:
    """One line of `endpoints`."""
    extra = "".join(f", {key}: {value}" for key, value in more.items())
    return (
        f"  - {{endpoint: {name}, measure: {measure}, hypothesis: {hypothesis}, bound_or_margin: {bound},"
        f" alpha: 0.025{extra}}}\n"
    )


def write(
    name: str, manifest: str, tables: dict[str, tuple[str, list[Row]]], verdicts: list[tuple[str, str, str]]
) -> None:
    """One study: its manifest, its tables (header and rows) and its verdicts (criterion, allowed, why)."""
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(HEAD + manifest, encoding="utf-8")
    verdict_table = ("endpoint allowed why", verdicts)
    for file, (header, rows) in {**tables, "verdicts.csv": verdict_table}.items():
        with (folder / file).open("w", newline="", encoding="utf-8") as out:
            csv.writer(out, lineterminator="\n").writerows([header.split(), *rows])


def measured_by_a_device() -> None:
    """80 cases; the device is 2 mm too high on average, its errors have a standard deviation of 3 mm."""
    rng = np.random.default_rng(1)
    error = rng.normal(0, 3, 80)
    error += 2 - error.mean()
    truth = rng.uniform(10, 60, 80)
    rows = [(k, round(truth[k] + error[k], 3), round(truth[k], 3)) for k in range(80)]
    bias, limit = "measurement.bias", "measurement.upper_limit_of_agreement"
    write(
        "measured-by-a-device",
        "measurements: [{measurement: diameter, unit: mm}]\n"
        "tables: {values: {file: values.csv, dataset: test}}\n"
        "datasets: [{dataset: test, role: external}]\n"
        "endpoints:\n"
        + criterion("wide", bias, "equivalence", 4)
        + criterion("narrow", bias, "equivalence", 1)
        + criterion("edge", bias, "equivalence", 2.2)
        + criterion("limit", limit, "performance goal", "[-1, 10]")
        + criterion("tight limit", limit, "performance goal", "[-1, 5]"),
        {"values.csv": ("case measured reference", rows)},
        [
            ("wide", "pass", "bias 2 with a standard error of about 0.33, margin 4"),
            ("narrow", "fail", "bias 2 is three standard errors beyond the margin of 1"),
            ("edge", "inconclusive", "bias 2 and the margin of 2.2 are less than a standard error apart"),
            ("limit", "pass", "the limit is about 2 + 1.96 x 3 = 7.9, with a standard error of about 0.6"),
            ("tight limit", "fail", "7.9 is five standard errors above 5"),
        ],
    )


def measured_by_five_readers() -> None:
    """60 cases, five readers; the aid takes the standard deviation of their errors from 4 to 1.5 mL."""
    rng = np.random.default_rng(2)
    truth = rng.uniform(10, 60, 60)
    rows = [
        (f"R{j}", k, arm, round(truth[k] + rng.normal(0, spread), 3), round(truth[k], 3))
        for j in range(5)
        for arm, spread in (("unaided", 4.0), ("aided", 1.5))
        for k in range(60)
    ]
    change = "reader_measurement.mean_absolute_error_difference"
    arms = {"arm_or_contrast": "[aided, unaided]"}
    write(
        "measured-by-five-readers",
        "measurements: [{measurement: volume, unit: mL}]\n"
        "tables: {values: {file: values.csv}}\n"
        "endpoints:\n"
        + criterion("smaller", change, "superiority", 0, **arms)
        + criterion("much smaller", change, "superiority", -3.5, **arms)
        + criterion("bias", "reader_measurement.bias", "equivalence", 2, arm_or_contrast="aided")
        + criterion("no bias", "reader_measurement.bias", "equivalence", 0.01, arm_or_contrast="aided"),
        {"values.csv": ("reader case arm measured reference", rows)},
        [
            ("smaller", "pass", "mean absolute errors of about 3.2 and 1.2"),
            ("much smaller", "fail", "the change is about -2, far from -3.5"),
            ("bias", "pass", "no reader has one, 300 readings"),
            ("no bias", "inconclusive|fail", "a standard error of about 0.1 is wider than the margin"),
        ],
    )


def contours_of_three_candidates() -> None:
    """50 cases; Dice of A is 0.05 above that of B, give or take; B and C differ by chance alone."""
    rng = np.random.default_rng(3)
    hard = rng.normal(0, 0.015, 50)
    apart = rng.normal(0, 0.02, 50)
    apart -= apart.mean()
    dice = {"A": 0.92 + hard, "B": 0.87 + hard + rng.normal(0, 0.01, 50)}
    dice["C"] = dice["B"] + apart
    rows = [(k, name, round(float(own[k]), 4)) for k in range(50) for name, own in dice.items()]
    apart_of = "measurement.mean_score_difference"
    share = "measurement.acceptable_share"
    write(
        "contours-of-three-candidates",
        "measurements: [{measurement: dice, better: up, acceptable: 0.85}]\n"
        "candidates: [{candidate: A}, {candidate: C}, {candidate: B}]\n"
        "tables: {values: {file: values.csv, dataset: test, measurement: dice}}\n"
        "datasets: [{dataset: test, role: external}]\n"
        "endpoints:\n"
        + criterion("A above B", apart_of, "superiority", 0, candidate="[A, B]")
        + criterion("A far above B", apart_of, "superiority", 0.1, candidate="[A, B]")
        + criterion("C above B", apart_of, "superiority", 0, candidate="[C, B]")
        + criterion("in the other order", apart_of, "superiority", 0, candidate="[B, C]")
        + criterion("C no worse than B", apart_of, "non-inferiority", 0.02, candidate="[C, B]")
        + criterion("floor", share, "performance goal", 0.9, candidate="A")
        + criterion("higher floor", share, "performance goal", 0.95, candidate="A"),
        {"values.csv": ("case candidate measured", rows)},
        [
            ("A above B", "pass", "0.05 apart, with a standard error below 0.003"),
            ("A far above B", "fail", "0.05 apart is far from 0.1"),
            ("C above B", "inconclusive", "the mean difference is 0"),
            ("in the other order", "inconclusive|not_assessable", "the mean difference is 0"),
            ("C no worse than B", "pass", "0 apart with a standard error of 0.003, margin 0.02"),
            ("floor", "pass", "all of 50: Wilson's limit is 0.93"),
            ("higher floor", "inconclusive", "all of 50: Wilson's limit is 0.93"),
        ],
    )


def quality_without_a_truth() -> None:
    """40 images, four readers, ratings of 1 to 5: the new image is 0.8 better, the plain one is alike."""
    rng = np.random.default_rng(4)
    image = rng.normal(0, 0.4, 40)
    rows = [
        (f"R{j}", k, source, int(np.clip(round(3.2 + gain + image[k] + rng.normal(0, 0.6)), 1, 5)))
        for j in range(4)
        for source, gain in (("new", 0.8), ("old", 0.0), ("plain", 0.0))
        for k in range(40)
    ]
    apart = "reader_measurement.mean_score_difference"
    write(
        "quality-without-a-truth",
        "measurements: [{measurement: quality, kind: ordinal, scale: [1, 5], better: up, acceptable: 3}]\n"
        "candidates: [{candidate: new}, {candidate: old}, {candidate: plain}]\n"
        "tables: {values: {file: ratings.csv, measurement: quality}}\n"
        "endpoints:\n"
        + criterion("better", apart, "superiority", 0, candidate="[new, old]")
        + criterion("two points better", apart, "superiority", 2, candidate="[new, old]")
        + criterion("much better than its like", apart, "superiority", 0.4, candidate="[old, plain]"),
        {"ratings.csv": ("reader case candidate measured", rows)},
        [
            ("better", "pass", "0.8 apart with a standard error of about 0.1"),
            ("two points better", "fail", "0.8 is far from 2"),
            ("much better than its like", "fail|inconclusive", "drawn alike"),
        ],
    )


def errors_of_drafted_reports() -> None:
    """60 drafts: none with a severe error, nine in ten of either source acceptable to three readers."""
    rng = np.random.default_rng(5)
    severe = [(k, 0) for k in range(60)]
    rated = [
        (f"R{j}", k, source, int(rng.random() < 0.9))
        for j in range(3)
        for source in ("model", "radiologist")
        for k in range(60)
    ]
    apart = "reader_measurement.acceptable_share_difference"
    share = "measurement.acceptable_share"
    rng = np.random.default_rng(30)
    light = [
        (f"R{j}", f"D{k:02d}", source, int(rng.poisson(rate)))
        for j in range(3)
        for k in range(60)
        for source, rate in (("model", 0.5), ("radiologist", 1.0))
    ]
    ratio = "reader_measurement.count_ratio"
    of_light = {"of": "light errors", "candidate": "[model, radiologist]"}
    write(
        "errors-of-drafted-reports",
        "measurements:\n"
        "  - {measurement: severe errors, kind: count, better: down}\n"
        "  - {measurement: acceptability, kind: ordinal, scale: [0, 1], better: up, acceptable: 1}\n"
        "  - {measurement: light errors, kind: count, better: down}\n"
        "candidates: [{candidate: model}, {candidate: radiologist}]\n"
        "tables:\n"
        "  severe: {kind: values, file: severe.csv, measurement: severe errors, dataset: drafts}\n"
        "  rated: {kind: values, file: rated.csv, measurement: acceptability}\n"
        "  light: {kind: values, file: light.csv, measurement: light errors}\n"
        "datasets: [{dataset: drafts, role: external}]\n"
        "endpoints:\n"
        + criterion("without severe errors", share, "performance goal", 0.9, of="severe errors")
        + criterion("almost never severe", share, "performance goal", 0.97, of="severe errors")
        + criterion(
            "as acceptable", apart, "non-inferiority", 0.25, of="acceptability",
            candidate="[model, radiologist]",
        )
        + criterion(
            "just as acceptable", apart, "non-inferiority", 0.005, of="acceptability",
            candidate="[model, radiologist]",
        )
        + criterion("fewer light errors", ratio, "superiority", 1, **of_light)
        + criterion("a quarter of the light errors", ratio, "performance goal", 0.25, **of_light),
        {
            "severe.csv": ("case measured", severe),
            "rated.csv": ("reader case candidate measured", rated),
            "light.csv": ("reader case candidate measured", light),
        },
        [
            ("without severe errors", "pass", "0 of 60: at most 6% by Wilson"),
            ("almost never severe", "inconclusive", "0 of 60 allows up to 6%"),
            ("as acceptable", "pass", "drawn alike, 180 ratings of each, margin of a quarter"),
            ("just as acceptable", "inconclusive|fail", "a standard error of about 0.03 against 0.005"),
            ("fewer light errors", "pass", "half as many, of about 90 and 180"),
            ("a quarter of the light errors", "fail", "a half is far from a quarter"),
        ],
    )  # fmt: skip


def labelled(rng: np.random.Generator, n: int, hit: float, right: tuple[float, float]) -> list[Row]:
    """Case, label and score: prevalence 0.2; the device finds `hit` of the ill and calls 5% of the others."""
    ill = rng.random(n) < 0.2
    called = np.where(ill, rng.random(n) < hit, rng.random(n) < 0.05)
    label = np.where(ill, rng.random(n) < right[0], rng.random(n) >= right[1])
    return [(f"c{k}", int(label[k]), 0.9 if called[k] else 0.1) for k in range(n)]


def labels_of_known_error() -> None:
    """4,000 cases a device, labels of sensitivity and specificity 0.95: a good device, and one of 0.6."""
    rng = np.random.default_rng(6)
    files = {
        f"{name}.csv": ("case truth score", labelled(rng, 4000, hit, (0.95, 0.95)))
        for name, hit in (("good", 0.97), ("weak", 0.6))
    }
    se, sp = "advice_accuracy.sensitivity", "advice_accuracy.specificity"
    write(
        "labels-of-known-error",
        "operating_point: {threshold: 0.5, threshold_origin: predefined by the manufacturer}\n"
        "reference_standard: {kind: error_prone, definition: read from reports, sensitivity: 0.95,"
        " specificity: 0.95, source: a study}\n"
        "datasets:\n"
        "  - {dataset: good, role: external, file: good.csv}\n"
        "  - {dataset: weak, role: external, file: weak.csv}\n"
        "endpoints:\n"
        + criterion("good finds", se, "performance goal", 0.9, dataset="good")
        + criterion("good spares", se.replace("sensitivity", "specificity"), "performance goal", 0.92,
                    dataset="good")
        + criterion("weak finds", se, "performance goal", 0.75, dataset="weak")
        + criterion("weak spares too much", sp, "performance goal", 0.98, dataset="weak")
        + criterion("accuracy", "advice_accuracy.accuracy", "performance goal", 0.5, dataset="good"),
        files,
        [
            ("good finds", "pass", "0.97 in truth (0.8 against the labels), 800 ill, a bound of 0.9"),
            ("good spares", "pass", "0.95 in truth, 3,200 cases without, a bound of 0.92"),
            ("weak finds", "fail", "0.6 in truth, a bound of 0.75"),
            ("weak spares too much", "fail", "0.95 in truth, a bound of 0.98"),
            ("accuracy", "not_assessable", "not corrected for the error of the labels"),
        ],
    )  # fmt: skip


def labels_of_unknown_error() -> None:
    """500 cases with labels that a language model read from reports; how often they are right is unknown."""
    rows = labelled(np.random.default_rng(7), 500, 0.95, (0.9, 0.95))
    write(
        "labels-of-unknown-error",
        "operating_point: {threshold: 0.5, threshold_origin: predefined by the manufacturer}\n"
        "reference_standard: {kind: error_prone, definition: read from reports by a language model}\n"
        "datasets: [{dataset: routine, role: external, file: routine.csv}]\n"
        "endpoints:\n"
        + criterion("low bound", "advice_accuracy.sensitivity", "performance goal", 0.3)
        + criterion("high bound", "advice_accuracy.specificity", "performance goal", 0.999)
        + criterion("area", "advice_accuracy.auc", "performance goal", 0.5)
        + criterion("alarms", "advice_accuracy.positive_rate", "performance goal", "[0, 0.5]"),
        {"routine.csv": ("case truth score", rows)},
        [
            ("low bound", "not_assessable", "no accuracy against labels of unknown error, for a pass"),
            ("high bound", "not_assessable", "nor for a fail"),
            ("area", "not_assessable", "nor of the order of the scores"),
            ("alarms", "pass|not_assessable", "about 23% are called: no label is needed"),
        ],
    )


def choices() -> None:
    """Pairs of outputs, 4 readers, 60 cases: A wins 75%, B and C as often; all choices of D on one case."""
    rng = np.random.default_rng(8)
    rows: list[Row] = []
    for k in range(60):
        for j in range(4):
            a, b = ("A", "B") if (j + k) % 2 else ("B", "A")
            rows.append((f"R{j}", k, a, b, "A" if rng.random() < 0.75 else "B"))
            b, c = ("B", "C") if (j + k) % 2 else ("C", "B")
            rows.append((f"R{j}", k, b, c, b if (j + k // 2) % 2 else c))
    share = "reader_measurement.preference_share"
    alone = [(f"R{j}", 0, "D", "E", "D") for j in range(30)]
    write(
        "choices-of-readers",
        "candidates: [{candidate: A}, {candidate: B}, {candidate: C}, {candidate: D}, {candidate: E}]\n"
        "tables:\n"
        "  many: {kind: preferences, file: choices.csv, task: many}\n"
        "  one: {kind: preferences, file: one_case.csv, task: one case}\n"
        "endpoints:\n"
        + criterion("A preferred", share, "superiority", 0.5, candidate="[A, B]", task="many")
        + criterion("A preferred by nine in ten", share, "superiority", 0.9, candidate="[A, B]", task="many")
        + criterion("B preferred to C", share, "superiority", 0.5, candidate="[B, C]", task="many")
        + criterion("D on one case", share, "superiority", 0.5, candidate="[D, E]", task="one case"),
        {
            "choices.csv": ("reader case first second preferred", rows),
            "one_case.csv": ("reader case first second preferred", alone),
        },
        [
            ("A preferred", "pass", "75% of 240 choices"),
            ("A preferred by nine in ten", "fail", "75% is far from 90%"),
            ("B preferred to C", "inconclusive", "as often one as the other"),
            ("D on one case", "inconclusive|not_assessable|problem", "thirty readers, but of one case"),
        ],
    )


def classes_by_hand() -> None:
    """100 cases of each of three classes: a called a 95 times, b called b 60 times, c called c 80 times.

    Of the others a are called c, b are called a, c are called b: 235 of 300 are right.
    """
    called = {"a": ("a" * 95, "c" * 5), "b": ("b" * 60, "a" * 40), "c": ("c" * 80, "b" * 20)}
    rows = [
        (f"{truth}{k}", truth, *(0.8 if said == name else 0.1 for name in "abc"))
        for truth, some in called.items()
        for k, said in enumerate("".join(some))
    ]
    accuracy, of_class = "advice_accuracy.class_accuracy", "advice_accuracy.class_sensitivity"
    spared, right = "advice_accuracy.class_specificity", "advice_accuracy.class_ppv"
    goal, mean = "performance goal", {"mean_over_classes": "true"}
    write(
        "classes-by-hand",
        "datasets:\n"
        "  - {dataset: test, role: external, file: cases.csv, columns: {class_scores: [a, b, c]}}\n"
        "endpoints:\n"
        + criterion("right", accuracy, goal, 0.7)
        + criterion("nearly right", accuracy, goal, 0.8)
        + criterion("always right", accuracy, goal, 0.9)
        + criterion("finds a", of_class, goal, 0.85, **{"class": "a"})
        + criterion("finds all a", of_class, goal, 0.95, **{"class": "a"})
        + criterion("finds b", of_class, goal, 0.6, **{"class": "b"})
        + criterion("finds most b", of_class, goal, 0.75, **{"class": "b"})
        + criterion("finds c", of_class, goal, 0.7, **{"class": "c"})
        + criterion("finds nearly all c", of_class, goal, 0.9, **{"class": "c"})
        + criterion("spares others of a", spared, goal, 0.7, **{"class": "a"})
        + criterion("spares nearly all others of a", spared, goal, 0.9, **{"class": "a"})
        + criterion("an a is one", right, goal, 0.6, **{"class": "a"})
        + criterion("an a is surely one", right, goal, 0.8, **{"class": "a"})
        + criterion("mean over classes", of_class, goal, 0.7, **mean)
        + criterion("higher mean over classes", of_class, goal, 0.8, **mean)
        + criterion("highest mean over classes", of_class, goal, 0.9, **mean),
        {"cases.csv": ("case truth a b c", rows)},
        [
            ("right", "pass", "235 of 300 are right: 73% to 83%"),
            ("nearly right", "inconclusive", "73% to 83% and a bound of 80%"),
            ("always right", "fail", "235 of 300, a bound of 90%"),
            ("finds a", "pass", "95 of 100: 89% to 98%"),
            ("finds all a", "inconclusive", "95 of 100 and a bound of 95%"),
            ("finds b", "inconclusive", "60 of 100 and a bound of 60%"),
            ("finds most b", "fail", "60 of 100: at most 69%"),
            ("finds c", "pass", "80 of 100: at least 71%"),
            ("finds nearly all c", "fail", "80 of 100: at most 87%"),
            ("spares others of a", "pass", "160 of 200 are not called a: at least 74%"),
            ("spares nearly all others of a", "fail", "160 of 200 are not called a: at most 85%"),
            ("an a is one", "pass", "95 of the 135 that are called a: at least 62%"),
            ("an a is surely one", "fail", "95 of the 135 that are called a: at most 78%"),
            ("mean over classes", "pass", "(95 + 60 + 80) / 300, a standard error of 0.022"),
            ("higher mean over classes", "inconclusive", "78% and a bound of 80%"),
            ("highest mean over classes", "fail", "78% is five standard errors below 90%"),
        ],
    )


def several_tests(name: str, reference: str, verdicts: dict[str, tuple[str, str]]) -> None:
    """2,000 cases a device and two reference tests with errors of their own; none is taken as right.

    Prevalence 0.3. The tests find 85% and 90% of the ill and spare 97% and 95% of the others.
    """
    rng = np.random.default_rng(9)
    files: dict[str, tuple[str, list[Row]]] = {}
    for device, hit in (("good", 0.95), ("weak", 0.6)):
        ill = rng.random(2000) < 0.3
        columns = [
            np.where(ill, rng.random(2000) < found, rng.random(2000) >= spared).astype(int)
            for found, spared in ((hit, 0.95), (0.85, 0.97), (0.9, 0.95))
        ]
        rows = [(f"c{k}", *map(int, row)) for k, row in enumerate(zip(*columns))]
        files[f"{device}.csv"] = ("case decision culture pcr", rows)
    se, sp = "advice_accuracy.sensitivity", "advice_accuracy.specificity"
    columns_of = "columns: {truth: {culture: culture, pcr: pcr}}"
    goals = {
        "good finds": (se, 0.88, "good"),
        "good finds nearly all": (se, 0.95, "good"),
        "weak finds": (se, 0.75, "weak"),
        "weak finds a third": (se, 0.35, "weak"),
        "good spares": (sp, 0.9, "good"),
        "good spares all": (sp, 0.99, "good"),
        "accuracy": ("advice_accuracy.accuracy", 0.5, "good"),
    }
    write(
        name,
        f"reference_standard: {{{reference}}}\n"
        "datasets:\n"
        f"  - {{dataset: good, role: external, file: good.csv, {columns_of}}}\n"
        f"  - {{dataset: weak, role: external, file: weak.csv, {columns_of}}}\n"
        "endpoints:\n"
        + "".join(
            criterion(goal, measure, "performance goal", bound, dataset=dataset)
            for goal, (measure, bound, dataset) in goals.items()
        ),
        files,
        [(goal, *verdicts[goal if goal in verdicts else ""]) for goal in goals],
    )


def references_of_several_tests() -> None:
    """The same cases with a composite reference, one that is declared as right, and a latent class."""
    several_tests(
        "composite-reference",
        "kind: composite, rule: any, definition: culture or PCR positive",
        {"": ("not_assessable", "concordance with a composite reference, not accuracy")},
    )
    several_tests(
        "composite-taken-as-right",
        "kind: exact, rule: any, definition: culture or PCR positive, source: a guideline",
        {
            "good finds": (
                "fail",
                "the composite calls 55 in 1,000 without the condition: about 0.81",
            ),
            "good finds nearly all": ("fail", "about 0.81"),
            "weak finds": ("fail", "about 0.51"),
            "weak finds a third": ("pass", "about 0.51"),
            "good spares": ("pass", "about 0.94"),
            "good spares all": ("fail", "about 0.94"),
            "accuracy": ("pass", "about 0.9"),
        },
    )
    several_tests(
        "latent-class",
        "kind: latent_class, rule: any, conditional_independence: true, definition: culture and PCR",
        {
            "good finds": ("pass", "0.95 in truth, 600 ill, a bound of 0.88"),
            "good finds nearly all": ("inconclusive", "0.95 in truth and a bound of 0.95"),
            "weak finds": ("fail", "0.6 in truth, a bound of 0.75"),
            "weak finds a third": ("pass", "0.6 in truth, a bound of 0.35"),
            "good spares": ("pass", "0.95 in truth, 1,400 cases without, a bound of 0.9"),
            "good spares all": ("fail", "0.95 in truth, a bound of 0.99"),
            "accuracy": ("not_assessable", "not estimated by the latent class"),
        },
    )
    several_tests(
        "latent-class-with-dependence",
        "kind: latent_class, rule: any, conditional_independence: true, dependence: 0.6,"
        " definition: culture and PCR",
        {
            "good finds": (
                "inconclusive",
                "0.95 in truth, and far less if two tests err together that often",
            ),
            "good finds nearly all": ("inconclusive", "0.95 in truth and a bound of 0.95"),
            "weak finds": ("fail|inconclusive", "0.6 in truth, and more if two tests err together"),
            "weak finds a third": ("pass|inconclusive", "0.6 in truth, and less if two tests err together"),
            "good spares": ("pass|inconclusive", "0.95 in truth, and less if two tests err together"),
            "good spares all": ("fail|inconclusive", "0.95 in truth, and more if two tests err together"),
            "accuracy": ("not_assessable", "not estimated by the latent class"),
        },
    )


if __name__ == "__main__":
    measured_by_a_device()
    measured_by_five_readers()
    contours_of_three_candidates()
    quality_without_a_truth()
    errors_of_drafted_reports()
    labels_of_known_error()
    labels_of_unknown_error()
    choices()
    classes_by_hand()
    references_of_several_tests()
