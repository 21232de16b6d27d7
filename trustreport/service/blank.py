"""A study before anything is declared: what tables are, and the manifest that a form begins with."""

SUFFIXES = (
    *(".csv", ".tsv", ".parquet", ".xlsx", ".imrmc"),
    *(".sas7bdat", ".xpt", ".sav", ".zsav", ".dta"),  # with the extra `formats`
)


def blank() -> str:
    """The manifest of a study that is begun in the form."""
    return 'report:\n  kind: certification\ndevice:\n  trade_name: ""\n'
