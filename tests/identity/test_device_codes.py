"""Numbers of registers: the published examples, and what a slip of the pen makes of them."""

from pathlib import Path

import pytest

from trustreport.api import read_study
from trustreport.study.identity.device_codes import SRN, is_basic_udi_di, is_gtin, is_udi_di

# GS1 General Specifications, 7.9.5; Yang (2022); the European Commission's help of EUDAMED for HIBCC and IFA.
BASIC = (
    "1987654Ad4X4bL5ttr2310c2K",
    "6901234GS1-China1234567EH",
    "6901234GS1-China1235R",
    "++A999MODELIDENTIFIER11S8",
    "PP12345ABCD.12345678.9004",
)
GTINS = ("4006381333931", "00012345678905", "96385074", "036000291452")


@pytest.mark.parametrize("code", BASIC)
def test_a_published_basic_udi_di_is_known_and_none_with_another_character(code: str) -> None:
    assert is_basic_udi_di(code)
    for at in range(len(code)):
        for other in "17AZ":
            changed = code[:at] + other + code[at + 1 :]
            assert changed == code or not is_basic_udi_di(changed) or code.startswith(("++", "PP"))


@pytest.mark.parametrize("code", GTINS)
def test_a_gtin_with_another_digit_is_none(code: str) -> None:
    assert is_gtin(code)
    assert is_udi_di(code)
    for at in range(len(code)):
        changed = code[:at] + str((int(code[at]) + 1) % 10) + code[at + 1 :]
        assert not is_gtin(changed)


def test_an_srn_names_country_role_and_nine_digits() -> None:
    assert SRN.fullmatch("DE-MF-000012345")
    assert not SRN.fullmatch("DE-XX-000012345")


@pytest.mark.parametrize(
    ("device", "fields"),
    [
        ("basic_udi_di: ++notaudi!!", ["basic_udi_di"]),
        ('udi_di: "4006381333932", srn: DE-12', ["udi_di", "srn"]),
        ('udi_di: "4006381333931", basic_udi_di: ++A999MODELIDENTIFIER11S8', []),
        ("udi_di: not yet assigned", []),
    ],
)
def test_a_number_that_cannot_be_one_is_named(tmp_path: Path, device: str, fields: list[str]) -> None:
    manifest = f"report: {{kind: certification}}\ndevice: {{trade_name: D, {device}}}\n"
    (tmp_path / "study.yaml").write_text(manifest + "tables: {cases: {file: c.csv}}\n")
    (tmp_path / "c.csv").write_text("case,truth\nc1,1\nc2,0\n")
    study, _ = read_study(tmp_path)
    assert [values["key"] for key, values in study.cautions if key == "device_code"] == fields
