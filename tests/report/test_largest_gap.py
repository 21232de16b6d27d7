"""The largest gap of the errors: by hand, with intervals of a published formula."""

from trustreport.assessment.case_mix import Errors
from trustreport.report.elements.data import largest_differences


def errors_of(*by: tuple[str, str, int, int, int, int], who: str = "", name: str = "one") -> Errors:
    return Errors(name, who, 0, 0, 0, 0, by)


def test_the_largest_gap_whose_intervals_part() -> None:
    """Wilson at 95%, by the formula: 42/78 from 0.43 to 0.64, 46/530 from 0.07 to 0.11, 8/20 from 0.22."""
    scanners = (("scanner", "X", 530, 46, 900, 90), ("scanner", "Y", 78, 42, 90, 9))
    sites = (("site", "A", 600, 80, 900, 90), ("site", "B", 8, 8, 90, 9))
    (gap,) = largest_differences([errors_of(*scanners, *sites[:1])], 0.95)
    assert (gap.kind, gap.name, gap.worst.level, gap.best.level) == ("missed", "scanner", "Y", "X")
    assert (gap.worst.k, gap.worst.n, gap.best.k, gap.best.n) == (42, 78, 46, 530)
    (gap,) = largest_differences([errors_of(*scanners, *sites)], 0.95)
    assert gap.name == "site"


def test_sets_of_one_device_count_together_and_devices_apart() -> None:
    half = (("scanner", "X", 265, 23, 0, 0), ("scanner", "Y", 39, 21, 0, 0))
    (gap,) = largest_differences([errors_of(*half), errors_of(*half, name="two")], 0.95)
    assert (gap.worst.k, gap.worst.n) == (42, 78)
    assert [
        g.who for g in largest_differences([errors_of(*half, who="A"), errors_of(*half, who="B")], 0.95)
    ] == ["A", "B"]


def test_overlapping_intervals_are_no_gap() -> None:
    """5 of 20 (0.11 to 0.47) and 2 of 20 (0.03 to 0.30) overlap; an empty level says nothing."""
    assert (
        list(largest_differences([errors_of(("sex", "f", 20, 5, 0, 0), ("sex", "m", 20, 2, 0, 0))], 0.95))
        == []
    )
    assert (
        list(largest_differences([errors_of(("sex", "f", 50, 50, 0, 0), ("sex", "m", 0, 0, 30, 3))], 0.95))
        == []
    )
