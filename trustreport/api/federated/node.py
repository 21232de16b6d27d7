"""The site file where an engine runs a program at a hospital: settings of the node, tables of the engine."""

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from trustreport.api.sites import site_bytes, summarise_site
from trustreport.study.pooled.site_file import DisclosureRules

FEWEST = DisclosureRules().fewest


class NoSiteFileError(Exception):
    """No file of the site was made; why is not in it, as it goes where the engine's messages go."""


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """What a site fixes for its node: `study`, its `site` name, `key` (PEM) or None, and `fewest` cases.

    `study` is a folder with the shared lock and a manifest, and the tables if no engine brings them.
    """

    study: Path
    site: str
    key: Path | None = None
    fewest: int = FEWEST

    @classmethod
    def from_words(cls, said: Mapping[str, Any]) -> "NodeSettings":
        """The settings of words with these names.

        Raises
        ------
        NoSiteFileError : study or site is missing, or fewest is no whole number
        """
        if not said.get("study") or not said.get("site"):
            raise NoSiteFileError("the settings of this node name no study or no site")
        key = Path(str(said["key"])) if said.get("key") else None
        try:
            fewest = int(said.get("fewest", FEWEST))
        except ValueError:
            raise NoSiteFileError("fewest, among the settings of this node, is no whole number") from None
        return cls(Path(str(said["study"])), str(said["site"]), key, fewest)

    @classmethod
    def from_environment(cls, **more: Any) -> "NodeSettings":
        """The settings of TRUSTREPORT_STUDY, _SITE, _KEY and _FEWEST; `more` counts where one is not set."""
        names = ("study", "site", "key", "fewest")
        said = {name: os.environ.get(f"TRUSTREPORT_{name.upper()}") for name in names}
        return cls.from_words({**more, **{name: word for name, word in said.items() if word}})


def node_file(settings: NodeSettings, tables: Iterable[tuple[str, Path]] = ()) -> bytes:
    """The file of the site: of its own study, or of the shared manifest with the engine's tables.

    Parameters
    ----------
    tables : name in the folder of the study, and file; copied beside manifest and lock, then removed

    Raises
    ------
    NoSiteFileError : with the kind of what went wrong; its message could quote a row and stays at the node
    """
    try:
        signer = None
        if settings.key is not None:
            from trustreport.report.signatures.signing import Signer

            signer = Signer.read(settings.key)
        with TemporaryDirectory() as home:
            folder = settings.study
            if given := list(tables):
                folder = Path(shutil.copytree(folder, Path(home) / "study"))
                for name, file in given:
                    if (folder / name).exists():
                        raise FileExistsError(name)
                    shutil.copyfile(file, folder / name)
            rules = DisclosureRules(fewest=settings.fewest)
            return site_bytes(summarise_site(folder, settings.site, rules), signer)
    except NoSiteFileError:
        raise
    except Exception as error:  # whatever it is, its text must not leave with the engine's messages
        kind = type(error).__name__
    raise NoSiteFileError(f"no file was made at this node: {kind}; `trustreport site` says why there")
