"""Make qualification/functions.json: the values of this folder that single functions must return, as data.

    python tests/reference/qualification.py

Nothing is computed here: values, software and versions are those of the files that are read, which other
software wrote. A test compares the file with what this script makes of them.
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "qualification" / "functions.json"

Check = dict[str, Any]


def rows(name: str) -> list[dict[str, str]]:
    """A table of this folder, without its comments."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def number(text: str) -> float | None:
    """A number as R writes it; None where there is none."""
    value = None if text in ("NA", "NaN", "") else float(text)
    return None if value is None or abs(value) == float("inf") else value


def check(
    function: str, case: str, arguments: list[Any], values: dict[str, Any], source: str, **more: Any
) -> Check:
    """A call and what its fields must be: value and tolerance of each."""
    wanted = {name: [value, tolerance] for name, (value, tolerance) in values.items() if value is not None}
    return {
        "function": function,
        "case": case,
        "arguments": arguments,
        "values": wanted,
        "source": source,
        **more,
    }


def relative(row: dict[str, str], share: float, *names: str) -> dict[str, tuple[float | None, float]]:
    """The numbers of a row, each with a tolerance relative to it."""
    found = {name: number(row[name]) for name in names}
    return {name: (v, max(abs(v) * share, 1e-12) if v is not None else 0.0) for name, v in found.items()}


def tables_of_counts() -> Iterator[Check]:
    r = "R 4.2.2, stats 4.2.2"
    one = {"wilson": "wilson", "clopper_pearson": "clopper_pearson"}
    paired = {
        "matched_exact": ("paired.ratios.matched_exact", ("value", "low", "high")),
        "mcnemar_exact": ("paired.ratios.mcnemar_exact", ("p",)),
        "mcnemar_midp": ("paired.ratios.mcnemar_midp", ("p",)),
    }
    for row in rows("twobytwo.csv"):
        kind, level = row["kind"], float(row["level"])
        counts = [int(row[name]) for name in "abcd" if number(row[name]) is not None]
        if kind in one:
            case = f"{counts[0]} of {counts[1]}, level {level}"
            values = relative(row, 1e-9, "value", "low", "high")
            yield check(f"proportion.{one[kind]}", case, [*counts, level], values, r)
        elif kind == "exact_conditional":
            a, n, b, m = counts
            values = relative(row, 1e-9, "low", "high")
            case = f"{a} of {n} and {b} of {m}, level {level}"
            yield check("two_arm.ratios.exact_conditional", case, [*counts, level], values, r)
        elif kind in paired:
            function, names = paired[kind]
            table = {"call": "paired.difference.PairedTable", "arguments": [7, *counts[:2], 5]}
            case = f"7, {counts[0]}, {counts[1]} and 5 pairs, level {level}"
            yield check(function, case, [table, level], relative(row, 1e-9, *names), r)


def agreement() -> Iterator[Check]:
    ratings = {
        "targets": [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]],
        "anxiety": [
            list(one) for one in zip(*json.loads((HERE / "weighted_kappa.json").read_text())["anxiety"])
        ],
    }
    for row in rows("icc.csv"):
        if row["table"] in ratings:
            table = [[float(x) for x in line] for line in ratings[row["table"]]]
            values = {name: (float(row[name]), 1e-9) for name in ("value", "low", "high")}
            case = f"{row['table']}, form {row['form']}"
            yield check(
                "agreement.coefficients.icc",
                case,
                [table],
                values,
                "psych 2.2.9 (R 4.2.2)",
                options={"form": row["form"]},
            )
    found = json.loads((HERE / "agreement.json").read_text())
    software = {name: f"{name} {version}" for name, version in found["versions"].items()}
    functions = {
        "fleiss": "kappa.fleiss_kappa",
        "conger": "kappa.conger_kappa",
        "gwet": "coefficients.gwet_ac2",
    }
    for name, table in found["tables"].items():
        codes, q = table["codes"], table["n_categories"]
        for scheme in ("linear", "quadratic"):
            weights = {"call": f"agreement.labels.{scheme}", "arguments": [q]}
            for key, function in functions.items():
                value, low, high, se = table["values"][f"{key} {scheme}"]
                values = {
                    "value": (value, 1e-12),
                    "se": (se, 1e-10),
                    "low": (low, 1e-8),
                    "high": (high, 1e-8),
                }
                yield check(
                    f"agreement.{function}",
                    f"table {name}, {scheme} weights",
                    [codes, q],
                    values,
                    software["irrCAC"],
                    options={"weights": weights},
                )
        for metric in ("nominal", "ordinal", "interval"):
            value = table["values"].get(f"alpha {metric}")
            yield check(
                "agreement.coefficients.krippendorff_alpha",
                f"table {name}, {metric}",
                [codes, q],
                {"value": (value, 1e-10)},
                software["krippendorff"],
                options={"metric": metric},
            )


def differences_between_groups() -> Iterator[Check]:
    found = json.loads((HERE / "equalised_odds.json").read_text())
    source = f"fairlearn {found['fairlearn']}"
    for i, one in enumerate(found["sets"], 1):
        truth, decision = ([c == "1" for c in one[name]] for name in ("truth", "decision"))
        group = [int(c) for c in one["group"]]
        values = {
            "value": (one["equalised_odds"], 1e-9),
            "details.true_positive_difference": (one["true_positive"], 1e-9),
            "details.false_positive_difference": (one["false_positive"], 1e-9),
        }
        function = "subgroups.equalised_odds_difference"
        yield check(function, f"set {i}, {len(truth)} cases", [truth, decision, group], values, source)


def pooled_studies() -> Iterator[Check]:
    cells: dict[str, list[list[int]]] = {}
    for row in rows("pooling/studies.csv"):
        cells.setdefault(row["data"], []).append([int(row[c]) for c in ("TP", "FP", "FN", "TN")])
    fields = {
        "logit_sensitivity": "centre.0",
        "logit_fpr": "centre.1",
        "var_sensitivity": "covariance.0.0",
        "var_fpr": "covariance.1.1",
        "covariance": "covariance.0.1",
        "tau2_sensitivity": "between.0.0",
        "tau2_fpr": "between.1.1",
    }
    wanted: dict[str, dict[str, tuple[float, float]]] = {}
    versions = {}
    for row in rows("pooling/metafor.csv"):
        if (
            row["method"] == "rma.mv_all"
            and row["name"] in fields
            and row["data"] in ("AuditC", "Dementia", "Glas")
        ):
            value = float(row["value"])
            of = wanted.setdefault(row["data"], {})
            of[fields[row["name"]]] = (value, max(abs(value) * 2e-6, 2e-7))
            versions[row["data"]] = row["version"]
    for name, values in wanted.items():
        tables = [list(column) for column in zip(*cells[name])]
        yield check("sites.pooling.pooled", f"review {name}", tables, values, versions[name])


def at_a_horizon(data: dict[str, list[float]]) -> Iterator[Check]:
    functions = {
        "auc": "survival.shares.auc_at_horizon",
        "brier": "survival.calibration.brier_at_horizon",
        "scaled_brier": "survival.calibration.scaled_brier_at_horizon",
        "slope": "survival.calibration.slope_at_horizon",
        "intercept": "survival.calibration.intercept_at_horizon",
    }
    for name in ("flchain", "mgus2"):
        table = rows(f"survival/{name}.csv")
        data[f"{name} time"] = [float(row["follow_up"]) for row in table]
        data[f"{name} event"] = [int(row["event"]) for row in table]
        data[f"{name} risk"] = [float(row["risk"]) for row in table]
    for row in (*rows("survival/expected_r.csv"), *rows("survival/expected_python.csv")):
        if "random" in row["software"] or row["quantity"] not in (*functions, "risk"):
            continue
        name, horizon = row["data"], float(row["horizon"])
        times = [{"data": f"{name} time"}, {"data": f"{name} event"}, horizon]
        state = {"call": "survival.horizon.at_horizon", "arguments": times}
        value = float(row["value"])
        values: dict[str, Any] = {"value": (value, abs(value) * 1e-8)}
        if row["se"] and not row["software"].startswith(
            "survival"
        ):  # Greenwood's variance has another divisor
            values["se"] = (float(row["se"]), float(row["se"]) * 1e-4)
        alone = row["quantity"] == "risk"
        function = "survival.shares.risk_at_horizon" if alone else functions[row["quantity"]]
        arguments = [state] if alone else [state, {"data": f"{name} risk"}]
        yield check(function, f"{name}, horizon {horizon:g} days", arguments, values, row["software"])


def of_weighted_cases(data: dict[str, list[float]]) -> Iterator[Check]:
    cases = rows("weighted_cases.csv")
    truth, called = ([row[key] == "1" for row in cases] for key in ("truth", "decision"))
    data["weighted truth"], data["weighted decision"] = truth, called
    data["weighted weight"] = [float(row["weight"]) for row in cases]
    data["weighted patient"] = [int(row["patient"]) for row in cases]
    data["weighted neither"] = [not one for one in called]
    data["weighted healthy"] = [not one for one in truth]
    data["weighted right"] = [one == other for one, other in zip(truth, called)]
    data["weighted all"] = [True] * len(cases)
    shares = {
        "sensitivity": ("decision", "truth"),
        "specificity": ("neither", "healthy"),
        "ppv": ("truth", "decision"),
        "npv": ("healthy", "neither"),
        "accuracy": ("right", "all"),
        "prevalence": ("truth", "all"),
    }
    for row in rows("weighted.csv"):
        if row["name"] not in shares:
            continue
        clustered = row["design"] == "patients"
        arguments = [{"data": f"weighted {name}"} for name in (*shares[row["name"]], "weight")]
        yield check(
            "weighted.weighted_share",
            f"{row['name']}, by {row['design']}",
            arguments,
            relative(row, 1e-6, "value", "se", "low", "high"),
            "survey 4.1-1 (R 4.2.2)",
            options={"cluster": {"data": "weighted patient"}} if clustered else {},
        )


def made() -> str:
    """The file as text: a check on each line."""
    data: dict[str, list[Any]] = {}
    checks = [
        *tables_of_counts(),
        *agreement(),
        *differences_between_groups(),
        *pooled_studies(),
        *at_a_horizon(data),
        *of_weighted_cases(data),
    ]
    lines = ",\n".join(json.dumps(one) for one in checks if one["values"])
    arrays = ",\n".join(f"{json.dumps(name)}: {json.dumps(values)}" for name, values in data.items())
    return f'{{"data": {{\n{arrays}\n}},\n"checks": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    OUT.write_text(made(), encoding="utf-8")
