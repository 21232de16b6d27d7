"""Which of our functions is compared with which of a peer, on what, at which sizes, and how equal."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

EXACT = 1e-9
CASES = (100, 10_000, 1_000_000)
R_PACKAGES = ("pROC", "energy")  # Debian: r-cran-proc, r-cran-energy
INTERVAL = "ours has the interval too"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A quantity that we and a peer compute of the same `inputs` of a size.

    `ours` and `theirs` name functions of the modules; `call` is what the table calls theirs. Every output may
    differ by `within` (relative where it is above 1), those in `loose` by what is said there, and `differs`
    says why outputs that do not agree are no failure. `remark` is printed beside the ratio.
    """

    peer: str
    quantity: str
    call: str
    inputs: str
    ours: str
    theirs: str
    sizes: tuple[int, ...] = CASES
    within: float = EXACT
    loose: Mapping[str, float] = field(default_factory=dict)
    differs: str = ""
    remark: str = ""

    @property
    def in_r(self) -> bool:
        """Whether the peer is a package of R."""
        return self.peer in R_PACKAGES


_P = "199 permutations each, of its own random numbers: p within 0.12"

COMPARISONS = (
    Comparison(
        *("scikit-learn", "area under the ROC curve", "roc_auc_score", "scored", "area", "sklearn_area"),
        remark=f"{INTERVAL} (DeLong's variance)",
    ),
    Comparison(
        *("scikit-learn", "average precision", "average_precision_score"),
        *("scored", "precision", "sklearn_precision"),
        remark=f"{INTERVAL} (influence of each case)",
    ),
    Comparison("scikit-learn", "ROC curve", "roc_curve", "scored", "curve", "sklearn_curve"),
    Comparison(
        *("scikit-learn", "Brier score", "brier_score_loss", "scored", "brier_score", "sklearn_brier"),
        remark=f"{INTERVAL}, and Murphy's parts by bins",
    ),
    Comparison(
        *("scikit-learn", "calibration curve, 10 bins", "calibration_curve"),
        *("scored", "calibration", "sklearn_calibration"),
        remark=INTERVAL,
    ),
    Comparison(
        *("scikit-learn", "Cohen's kappa", "cohen_kappa_score", "two_raters", "kappa", "sklearn_kappa"),
        remark=INTERVAL,
    ),
    Comparison(
        *("scikit-learn", "Cohen's kappa, quadratic", "cohen_kappa_score"),
        *("two_raters", "kappa_quadratic", "sklearn_kappa_quadratic"),
        remark=INTERVAL,
    ),
    Comparison(
        *("scikit-learn", "Matthews correlation", "matthews_corrcoef"),
        *("scored", "matthews", "sklearn_matthews"),
        remark=INTERVAL,
    ),
    Comparison(
        *("statsmodels", "Wilson interval", "proportion_confint"),
        *("counts", "wilson_limits", "statsmodels_wilson"),
    ),
    Comparison(
        *("statsmodels", "Clopper-Pearson interval", "proportion_confint"),
        *("counts", "exact_limits", "statsmodels_exact"),
        remark="ours by root finding: scipy's inverse of the incomplete beta function is off by a factor of "
        "two for 1,000 events in 1e9 cases",
    ),
    Comparison(
        *("statsmodels", "McNemar's test, exact", "mcnemar", "counts", "mcnemar", "statsmodels_mcnemar"),
        remark="ours has the share with its exact interval too",
    ),
    Comparison(
        *("statsmodels", "Fleiss' kappa, 5 raters", "fleiss_kappa", "full", "fleiss", "statsmodels_fleiss"),
        sizes=(100, 10_000, 100_000),
        remark=INTERVAL,
    ),
    Comparison(
        *("irrCAC", "AC1 with interval, 5 raters", "CAC.gwet", "rated", "ac1", "irrcac_ac1"),
        sizes=(100, 1_000, 10_000),
    ),
    Comparison(
        *("irrCAC", "AC2 with interval, quadratic", "CAC.gwet", "rated", "ac2", "irrcac_ac2"),
        sizes=(100, 1_000, 10_000),
    ),
    Comparison(
        *("irrCAC", "Fleiss' kappa with standard error", "CAC.fleiss"),
        *("rated", "fleiss_variance", "irrcac_fleiss"),
        sizes=(100, 1_000, 10_000),
    ),
    Comparison(
        *("irrCAC", "Conger's kappa with standard error", "CAC.conger", "rated", "conger", "irrcac_conger"),
        sizes=(100, 1_000, 10_000),
    ),
    Comparison(
        *("krippendorff", "Krippendorff's alpha, nominal", "alpha", "rated", "alpha", "krippendorff_alpha"),
        sizes=(100, 1_000, 10_000),
        remark=INTERVAL,
    ),
    Comparison(
        *("krippendorff", "Krippendorff's alpha, ordinal", "alpha"),
        *("rated", "alpha_ordinal", "krippendorff_alpha_ordinal"),
        sizes=(100, 1_000, 10_000),
        remark=INTERVAL,
    ),
    Comparison(
        *("dcurves", "decision curve, 99 thresholds", "dca", "scored", "net_benefit", "dcurves_net_benefit"),
        sizes=(100, 10_000, 100_000),
        remark=f"{INTERVAL} at each threshold",
    ),
    Comparison(
        *("pycm", "confusion matrix, 9 measures", "ConfusionMatrix"),
        *("scored", "four_cells", "pycm_four_cells"),
        sizes=(100, 10_000, 100_000),
        remark="ours has 17 measures with intervals, whose search takes nearly all of its time at any n; "
        "PyCM has more measures, without",
    ),
    Comparison(
        *("pmvalsampsize", "cases needed at prevalence 1/n", "pmvalsampsize"),
        *("planned", "sizes", "pmvalsampsize_sizes"),
        sizes=(3, 30, 300),
        within=0.0,
        loose={"oe": 5e-3, "slope": 1e-2},
        remark="theirs simulates the scores (slope within 1%) and steps the standard error by 0.0001 "
        "(O/E within 0.5%); the area is equal",
    ),
    Comparison(
        *("mlscorecheck", "consistency of three printed figures", "check_1_testset_no_kfold"),
        *("reported", "consistency", "mlscorecheck_consistency"),
        within=0.0,
        remark="ours reads the figures as printed and decides in exact whole numbers",
    ),
    Comparison(
        *("hyppo", "energy distance test", "Energy", "points", "energy", "hyppo_energy"),
        sizes=(100, 200, 400),
        loose={"p": 0.12},
        remark=f"{_P}; ours has the degree of correspondence too",
    ),
    Comparison(
        *("hyppo", "MMD test", "MMD", "points", "kernel", "hyppo_kernel"),
        sizes=(100, 200, 400),
        loose={"p": 0.12},
        remark=f"{_P}; the statistics are scaled differently and not compared",
    ),
    Comparison(
        *("pROC", "area with DeLong's variance", "roc, auc, var", "scored", "area_delong", "proc_area"),
        sizes=(100, 1_000, 10_000),
    ),
    Comparison(
        *("energy", "energy distance test", "eqdist.etest", "points", "energy", "energy_test"),
        sizes=(100, 400, 1_600),
        loose={"p": 0.12},
        remark=f"{_P}; ours has the degree of correspondence too",
    ),
)


def environments(lines: Iterable[str]) -> dict[str, dict[str, str]]:
    """Name of an environment to its distributions and their versions.

    >>> environments(["# environment: a", "numpy==2.4.6"])
    {'a': {'numpy': '2.4.6'}}
    """
    found: dict[str, dict[str, str]] = {}
    for line in map(str.strip, lines):
        if line.startswith("# environment:"):
            current = found.setdefault(line.partition(":")[2].strip(), {})
        elif line and not line.startswith("#"):
            name, _, version = line.partition("==")
            current[name] = version
    return found
