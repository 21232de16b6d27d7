"""Site files as an algorithm of vantage6: its wrapper calls `site_file` of the module in PKG_NAME.

The image holds the shared manifest and lock (TRUSTREPORT_STUDY); the node brings the tables: files of
databases in version 4, data frames of a session in version 5. A table has the name of its label with the
ending of its file: a database `data` of a CSV file is `data.csv` in the manifest.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from trustreport.api.federated.node import NodeSettings, NoSiteFileError, node_file

LABEL = re.compile(r"[\w-]+")


def site_file(site: str = "") -> dict[str, str]:
    """The file of this site as text, under `site_file`.

    Parameters
    ----------
    site : its name, where the node does not set TRUSTREPORT_SITE

    Raises
    ------
    NoSiteFileError : no file was made
    """
    settings = NodeSettings.from_environment(site=site)
    return {"site": settings.site, "site_file": node_file(settings, tables()).decode()}


def tables() -> Iterator[tuple[str, Path]]:
    """The tables that the node mounted, each with its name in the manifest.

    Raises
    ------
    NoSiteFileError : a label is no plain word, or a database is no file
    """
    frames = os.environ.get("USER_REQUESTED_DATAFRAMES", "")
    files = os.environ.get("USER_REQUESTED_DATABASE_LABELS", "")
    for label in filter(None, re.split("[,;]", frames or files)):
        if not LABEL.fullmatch(label):
            raise NoSiteFileError("the label of a table is no plain word")
        if frames:
            path = Path(os.environ["SESSION_FOLDER"]) / f"{label}.parquet"
        else:
            path = Path(os.environ.get(f"{label.upper()}_DATABASE_URI", ""))
        if not path.is_file():
            raise NoSiteFileError(f"the table {label} is no file at this node")
        yield f"{label}{path.suffix}", path
