"""Boxes in the form of COCO as tables of cases, lesions and marks.

The truth is an object of ``images`` and ``annotations``; what a detector found is a list of results with
``image_id``, ``bbox`` and ``score``, in a file of its own for each detector. A box ``[x, y, width, height]``
becomes the point at its centre. A mark hits the lesion of its image and category whose box holds the centre
of the mark; of several, the one whose centre is nearest. A crowd (``iscrowd``) is no lesion, and marks inside
one are left out, as COCO's own evaluation does.
Source: Lin et al. (2014), "Microsoft COCO", and https://cocodataset.org/#format-results.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, isfinite
from typing import Any

from trustreport.study.interop.observed import Rows
from trustreport.vocabulary.errors import Problem

OF_FILES = ("id", "file_name", "width", "height", "license", "flickr_url", "coco_url", "date_captured")
RESULT = ("image_id", "bbox", "score")


@dataclass(frozen=True, slots=True)
class Box:
    """A box of an image; `name` is that of its annotation, `score` that of a detector."""

    image: Any
    category: str
    name: str
    x: float
    y: float
    width: float
    height: float
    score: float = 0.0
    crowd: bool = False

    @property
    def centre(self) -> tuple[float, float]:
        """The point at its middle."""
        return self.x + self.width / 2, self.y + self.height / 2

    def __contains__(self, point: tuple[float, float]) -> bool:
        x, y = point
        return self.x <= x <= self.x + self.width and self.y <= y <= self.y + self.height


def is_truth(content: Any) -> bool:
    """Whether this is an object of images and annotations."""
    return isinstance(content, dict) and all(
        isinstance(content.get(key), list) for key in ("images", "annotations")
    )


def is_results(content: Any) -> bool:
    """Whether this is a list of what a detector found."""
    return isinstance(content, list) and bool(content) and _has(content[0], *RESULT)


def _is_named(one: Any) -> bool:
    return _has(one, "id") and isinstance(one["id"], int | str)


def _has(one: Any, *keys: str) -> bool:
    return isinstance(one, dict) and all(key in one for key in keys)


def read_coco(files: Mapping[str, Any]) -> tuple[dict[str, Rows], list[Problem]]:
    """Tables by name (``cases``, ``lesions``, and that of each file of results), and every fault.

    Parameters
    ----------
    files : the content of each JSON file, by its name without the ending; one of them is the truth
    """
    truths = [name for name, content in files.items() if is_truth(content)]
    if len(truths) != 1:
        named = ", ".join(truths) or "none"
        found = f"{len(truths)} files of images and annotations ({named})"
        mend = "Name it beside the files of results."
        return {}, [Problem(next(iter(files)), found, "one", mend)]
    problems: list[Problem] = []
    file = truths[0]
    images = {one["id"]: one for one in files[file]["images"] if _is_named(one)}
    lesions = list(_boxes(file, "annotations", files[file]["annotations"], images, problems))
    kinds = {
        _plain(one["id"]): _plain(one.get("name"))
        for one in files[file].get("categories") or ()
        if _is_named(one)
    }
    files_named = [str(one.get("file_name") or key) for key, one in images.items()]
    cases = dict(zip(images, files_named if len(set(files_named)) == len(images) else map(str, images)))
    more = [key for key in dict.fromkeys(k for one in images.values() for k in one) if key not in OF_FILES]
    of_kind = ["kind"] if len(kinds) > 1 else []

    def kind(box: Box) -> list[str]:
        return [kinds.get(box.category, box.category)] if of_kind else []

    tables = {
        "cases": [
            ["case", *more],
            *([cases[key], *(_plain(one.get(k))[:200] for k in more)] for key, one in images.items()),
        ],
        "lesions": [
            ["case", "lesion", "x", "y", *of_kind],
            *([cases[b.image], b.name, *map(_plain, b.centre), *kind(b)] for b in lesions if not b.crowd),
        ],
    }
    of_image: dict[Any, list[Box]] = defaultdict(list)
    for box in lesions:
        of_image[box.image].append(box)
    for name, content in files.items():
        if name == file:
            continue
        rows: Rows = [["candidate", "case", "lesion", "x", "y", "rating", *of_kind]]
        for mark in _boxes(name, "", content, images, problems):
            hit, crowd = _hit(mark, of_image[mark.image])
            if hit or not crowd:
                cells = [hit, *map(_plain, (*mark.centre, mark.score)), *kind(mark)]
                rows.append([name, cases[mark.image], *cells])
        tables[name] = rows
    return tables, problems


def _hit(mark: Box, boxes: Sequence[Box]) -> tuple[str, bool]:
    """The lesion that a mark hit, empty where it hit none, and whether it lies in a crowd."""
    own = [b for b in boxes if b.category == mark.category and mark.centre in b]
    hit = [b for b in own if not b.crowd]

    def distance(box: Box) -> float:
        return hypot(box.centre[0] - mark.centre[0], box.centre[1] - mark.centre[1])

    return min(hit, key=distance).name if hit else "", any(b.crowd for b in own)


def _boxes(
    file: str, of: str, entries: Sequence[Any], images: Mapping[Any, Any], problems: list[Problem]
) -> Iterator[Box]:
    """The boxes of a list; an entry that is none is a fault."""
    for i, one in enumerate(entries):
        at = f"{of}[{i}]"
        box = one.get("bbox") if isinstance(one, dict) else None
        if not (isinstance(box, list) and len(box) == 4 and all(map(_is_number, box)) and min(box[2:]) >= 0):
            expected = "[x, y, width, height]"
            problems.append(Problem(f"{file}.json", f"found {_shown(box)}", expected, column=f"{at}.bbox"))
            continue
        image = one.get("image_id")
        if not isinstance(image, int | str) or image not in images:
            found = f"found {_shown(image)}"
            problems.append(
                Problem(f"{file}.json", found, "the id of an image of the truth", column=f"{at}.image_id")
            )
            continue
        score = one.get("score", 0.0)
        if not _is_number(score):
            problems.append(
                Problem(f"{file}.json", f"found {_shown(score)}", "a number", column=f"{at}.score")
            )
            continue
        name, category, crowd = (
            str(one.get("id", i)),
            _plain(one.get("category_id")),
            bool(one.get("iscrowd")),
        )
        x, y, width, height = map(float, box)
        yield Box(image, category, name, x, y, width, height, float(score), crowd)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool) and isfinite(cell)


def _plain(cell: Any) -> str:
    """A cell as text; a whole number without its point."""
    if isinstance(cell, float):
        return f"{cell:.10g}"
    return "" if cell is None or isinstance(cell, dict | list) else str(cell)


def _shown(cell: Any) -> str:
    return "nothing" if cell is None else f'"{str(cell)[:40]}"'
