"""One table: its form, the columns that are known, the kind of table that it then is."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from trustreport.study.ingest import contracts
from trustreport.study.ingest.problems import almost
from trustreport.study.ingest.tables import BY_PLACE
from trustreport.study.proposal import special
from trustreport.study.proposal.judgements import CODED, GRADED, TableByCells
from trustreport.study.proposal.measured import find_values
from trustreport.study.proposal.parts import (
    Cells,
    Doubt,
    day,
    has_word,
    is_group,
    spellings,
    squeezed,
    vocabulary,
)
from trustreport.study.proposal.shapes import arms_in_columns

# What each kind of table must have, by our words; of several in one place any one.
NEEDS = {
    "readings": ("reader", "case", "decision or score"),
    "scores": ("case", "truth", "score or decision"),
    "raters": ("case", "rater", "label"),
    "values": ("case", "measured"),
}
FEWEST_RANKS = 3
LONGEST, RANKED = 7200, 10  # seconds of a reading, and ranks of confidence: more are of another unit


class TableProposal(TableByCells):
    """A table while it is being recognised; `take` puts it into the proposal."""

    def recognise(self) -> bool:
        """Whether the table is of a kind that is known."""
        self._form()
        self._columns()
        have = dict(self.columns)
        self.known = frozenset(have)
        if self.may("preferences") and special.find_choices(self, have):
            self.entry.kind = "preferences"
        elif "unpivot" not in self.entry.form and self.may("values") and find_values(self, have):
            self.entry.kind = "values"
        else:
            self.entry.kind = self._kind()
        return bool(self.entry.kind)

    def unknown(self) -> str:
        """Why it is not, and what the kind of table that is nearest lacks."""
        said = f"its columns ({', '.join(self.headers[:8])}) are of no table that is known"
        lacks = {
            kind: [word for word in words if self.known.isdisjoint(word.split(" or "))]
            for kind, words in NEEDS.items()
        }
        kind = min(lacks, key=lambda kind: len(lacks[kind]) / len(NEEDS[kind]))
        if len(lacks[kind]) == len(NEEDS[kind]):
            return said
        if not lacks[kind]:
            return f"{said}; for one of {kind} its rows are of several kinds, or a case has several"
        also = " and a column ".join(lacks[kind])
        return f"{said}; nearest is one of {kind}, which also needs a column {also}"

    def take(self) -> None:
        """Put the table into the proposal."""
        words = contracts.CONTRACTS[self.entry.kind].words
        self.columns = {word: header for word, header in self.columns.items() if word in words}
        self._values()
        self._units()
        renamed = {w: h for w, h in self.columns.items() if w != h}
        if renamed:
            self.entry.form["columns"] = renamed
        kind = self.entry.kind
        if "follow_up" in self.columns:
            special.settle_follow_up(self)
        if kind == "marks":
            special.settle_marks(self)
        if kind == "dataset":
            self._dataset()
        else:
            self.made.entries += [self.entry, *self.more]
        read = kind == "values" and {"reader", "arm"} <= self.columns.keys()
        if kind == "readings" or read or (kind == "marks" and "reader" in self.columns):
            self._arms()
        if kind == "readings":
            self._design()
        if kind == "raters":
            self._ranks()
        known = {h for h in self.headers if self._groups(h)}
        self.made.groups += [h for h in self.headers if h in known and h not in self.made.groups]
        if self.made.datasets and self.made.datasets[-1].get("file") == self.path:
            self.made.features[self.stem] = self._features()

    def _features(self) -> list[str]:
        """Columns of numbers that the manifest has no other use for: data sets may be compared by them."""
        used = {
            h
            for c in self.columns.values()
            for h in (c.values() if isinstance(c, dict) else c if isinstance(c, list) else [c])
        }
        free = [h for h in self.headers if h not in used and not h.startswith(BY_PLACE)]
        return [h for h in free if self.seen[h].numeric and not self._groups(h)]

    def _groups(self, header: str) -> bool:
        """Whether a column forms groups by its name, and its cells are no measured numbers."""
        seen = self.seen[header]
        return is_group(header) and not (seen.numeric and not seen.is_whole)

    def _form(self) -> None:
        """How the file was written: sheet, header, words for missing values, decimals."""
        form = self.entry.form
        if self.sheet and not self.first:
            form["sheet"] = self.sheet
        if self.raw.guessed_encoding:
            form["encoding"] = self.raw.guessed_encoding
        if self.raw.layout.header_row:
            rows = self.raw.layout.header_rows
            form["header_row"] = rows[0] if len(rows) == 1 else list(rows)
        if self.unit_row:
            form["skip_rows"] = [int(self.raw.row(np.zeros(1, int))[0])]
        absent = sorted({w for cells in self.seen.values() for w in cells.absent})
        if absent:
            form["missing"] = absent
        if any(cells.comma for cells in self.seen.values()):
            form["decimal"] = ","
        dates = {cells.date_form for cells in self.seen.values() if cells.date_form}
        if dates:
            form["date_format"] = min(dates)

    def _columns(self) -> None:
        """The column of each word: by its header, where its cells do not speak against it."""
        taken: set[str] = set()
        for word in vocabulary()["columns"]:
            for name in spellings(word):
                found = next((h for h in self.headers if name in self.names(h) and h not in taken), None)
                if found is not None and self._may_be(word, found):
                    self.columns[word] = found
                    taken.add(found)
                    break
        self._per_arm(taken)
        if {"set", "case", "metric", "tp", "errors"} & self.columns.keys() == {"set"}:
            self.columns["case"] = self.columns.pop("set")  # a study of a patient, not an article
        asked = "pivot" in self.entry.form and {"reader", "truth"} <= self.columns.keys()
        if asked and "decision" not in self.columns:
            self.columns["decision"] = self.columns.pop("truth")  # a reader's answer
        if "case" not in self.columns and {"reader", "patient"} <= self.columns.keys():
            self.columns["case"] = self.columns.pop("patient")  # who reads patients calls them so
        self._case(taken)
        self._reader(taken)
        self._calls_per_arm(taken)
        self._readers_in_columns(taken)
        self._by_words(taken)
        self._judgement(taken)
        special.find_follow_up(self, taken)
        self._tests(taken)
        self._truth(taken)
        self._scores(taken)
        self._near_misses(taken)
        self._other_names(taken)
        patient = self.columns.get("patient", "")
        once = patient and self.seen[patient].n_distinct == self.raw.n_rows
        if once and "case" not in self.columns and "truth" in self.columns:
            self.columns["case"] = self.columns.pop("patient")

    def _other_names(self, taken: set[str]) -> None:
        """Ask where a second column has a name for the truth or the decision too."""
        for word, what in (("truth", "reference standard"), ("decision", "decision")):
            header = self.columns.get(word)
            free = [h for h in self.headers if h not in taken and self._may_be(word, h)]
            others = [h for h in free if self.seen[h].pair and set(self.names(h)) & set(spellings(word))]
            if isinstance(header, str) and squeezed(header) != word and others:
                doubt = Doubt(f"{self.place}: which column is the {what}?", (header, *others), header)
                self.columns[word] = self.settle(doubt, "columns")

    def _near_misses(self, taken: set[str]) -> None:
        """Headers that are almost a word: without a place in the manifest the table would be refused."""
        for header in self.headers:
            for word in vocabulary()["columns"]:
                free = word not in self.columns and header not in taken
                if free and almost(squeezed(header), word) and self._may_be(word, header):
                    self.columns[word] = header
                    taken.add(header)

    def _by_words(self, taken: set[str]) -> None:
        """A date or a score by one word of its header: specimen_date, risk_10y."""
        for word in ("date", "score", "confidence", *(("seconds",) if "reader" in self.columns else ())):
            found = [
                h
                for h in self.headers
                if h not in taken and has_word(h, word) and self._may_be(word, h) and not is_group(h)
            ]
            if word not in self.columns and len(found) == 1:
                self.columns[word] = found[0]
                taken.add(found[0])

    def _scores(self, taken: set[str]) -> None:
        """Scores of classes or of several candidates, and decisions of several candidates."""
        have = self.columns
        if have.keys().isdisjoint(("truth", "follow_up")):
            return
        rest = [h for h in self.headers if h not in taken and self._is_output(h)]
        classes = {c.casefold() for header in self._mapped("truth") for c in self.seen[header].distinct}
        if len(classes) > 2 and classes <= {h.rpartition("_")[2].casefold() for h in rest}:
            have["class_scores"] = rest
        elif have.keys().isdisjoint(GRADED) and rest:
            have["score"] = rest[0] if len(rest) == 1 else {h: h for h in rest}
        calls = [h for h in self.headers if h not in taken and self.seen[h].is_call and not is_group(h)]
        if not rest and len(calls) > 1 and have.keys().isdisjoint(GRADED):
            have["decision"] = {h: h for h in calls}

    def _per_arm(self, taken: set[str]) -> None:
        """Columns such as decision_aided and decision_unaided."""
        for word in ("decision", "score", "confidence", "seconds"):
            if word in self.columns:
                continue
            found: dict[str, str] = {}
            for name in (word, *vocabulary()["columns"][word]):
                for header in self.headers:
                    rest = squeezed(header).removeprefix(name).strip("_")
                    arm = next((a for a in ("aided", "unaided") if rest in vocabulary()["arms"][a]), "")
                    if squeezed(header).startswith(name) and arm and header not in taken:
                        found.setdefault(arm, header)
            if len(found) == 2:
                self.columns[word] = {arm: found[arm] for arm in ("unaided", "aided")}
                taken |= set(found.values())

    def _calls_per_arm(self, taken: set[str]) -> None:
        """Two columns of yes and no that differ by the arm alone, in a table of readers."""
        if "reader" not in self.columns or {*GRADED, "label"} & self.columns.keys():
            return
        free = [h for h in self.headers if h not in taken and self.seen[h].pair]
        found = list(arms_in_columns(free).values())
        if len(found) == 1:
            self.columns["decision"] = {arm: found[0][arm] for arm in ("unaided", "aided")}
            taken |= set(found[0].values())

    def _readers_in_columns(self, taken: set[str]) -> None:
        """Columns that name a reader and an arm, as Smith_noAI: a row for each reader and case."""
        free = [h for h in self.headers if h not in taken and (self.seen[h].numeric or self.seen[h].pair)]
        found = arms_in_columns(free)
        if len(found) < 2 or "reader" in self.columns or {"decision", "score"} & self.columns.keys():
            return
        own = {arm: [columns[arm] for columns in found.values()] for arm in ("unaided", "aided")}
        every = [h for headers in own.values() for h in headers]
        names = [header for headers in found.values() for header in headers.values()]
        cells = [self.seen[h] for h in names]
        pairs = all(c.pair for c in cells) and len({frozenset(c.distinct) for c in cells}) == 1
        calls = pairs or all(c.is_yes_or_no or c.coded for c in cells)
        self.entry.form["unpivot"] = {"into": "reader", "columns": own, "names": list(found)}
        self.columns["decision" if calls else "score"] = {arm: arm for arm in own}
        self.columns["reader"] = "reader"
        self.spread = {arm: headers[0] for arm, headers in own.items()}
        taken |= set(every)

    def _kind(self) -> str:
        if placed := special.lesions_or_marks(self):
            return placed
        have = set(self.columns)
        pattern = rf"({'|'.join(vocabulary()['wide']['names'])})_?\d+"
        wide = [h for h in self.headers if re.fullmatch(pattern, squeezed(h))]
        if {"tp", "fp", "fn", "tn"} <= have:
            self._only("set", "dataset", "tp", "fp", "fn", "tn")
            return "confusion"
        if {"arm", "errors", "correct"} <= have:
            return "counts"
        if {"set", "metric", "value"} <= have:
            return "reported"
        if len(wide) > 1 and "reader" not in have:
            return self._wide_raters(wide)
        if "rater" in have and "reader" not in have and not self.may("raters"):
            self.columns["reader"] = self.columns.pop("rater")
            have = set(self.columns)
        if {"rater", "case"} <= have and have & {"label", "decision", "truth"}:
            label = next(self.columns[word] for word in ("label", "decision", "truth") if word in have)
            self._only("case", "rater", "confidence")
            self.columns["label"] = label
            return "raters"
        label = self.columns.get("label")
        if "reader" in have and label and not have & set(GRADED) and self._may_be("score", label):
            self.columns["score"] = label  # a rating of a reader, not of one of those who set the truth
            have.add("score")
        self._without("label", "rater")
        if {"reader", "case"} <= have and have & set(GRADED) and self.may("readings"):
            self._without("dataset", "candidate", "version", "site", "date", "set")
            return "readings"
        self._without("arm", "set")
        alone = self.made.of_one_file or not self.may("cases")
        if alone and "truth" in have and "reader" not in have and not have & set(GRADED):
            # What the device says of cases that nobody read is not advice to readers.
            for word, ours in (("advice_score", "score"), ("advice", "decision")):
                if word in have:
                    self.columns[ours] = self.columns.pop(word)
            self._score_without_name()
            self._calls_of_device()
            have = set(self.columns)
        if have & {"truth", "follow_up"} and have & {*GRADED, "class_scores"} and self.may("dataset"):
            return "dataset"
        if "case" in have and have & set(GRADED) and self.may("scores"):
            return "scores"
        # One row for each case, or reader: else it is a table of something else.
        if {"case", "truth"} <= have and self.once("case") and self.may("cases"):
            return "cases"
        return "readers" if "reader" in have and "case" not in have and self.once("reader") else ""

    def _score_without_name(self) -> None:
        """Ask whether a column of numbers of no known name is the score, where only a decision has one."""
        decision = self.columns.get("decision")
        used = {h for h in self.columns.values() if isinstance(h, str)}
        numbers = [
            h for h in self.headers if h not in used and self.seen[h].numeric and self.seen[h].n_distinct > 2
        ]
        numbers = [h for h in numbers if not is_group(h)]
        if isinstance(decision, str) and "score" not in self.columns and numbers:
            question = f"{self.place}: which column is what the device says?"
            said = self.settle(Doubt(question, (decision, *numbers), decision), "columns")
            if said != decision:
                self.columns["score"] = said

    def _only(self, *words: str) -> None:
        self.columns = {w: h for w, h in self.columns.items() if w in words}

    def _without(self, *words: str) -> None:
        for word in words:
            self.columns.pop(word, None)

    def _wide_raters(self, wide: list[str]) -> str:
        case = self.columns.get("case") or next((h for h in self.headers if h not in wide), None)
        self.columns = {"case": case} if case else {}
        stem = re.sub(r"\d+$", "", wide[0])
        whole = all(h.startswith(stem) for h in wide)
        self.entry.form["unpivot"] = {"into": "rater", "columns": {"label": f"{stem}*" if whole else wide}}
        self.labels = wide
        return "raters"

    def _values(self) -> None:
        """What the cells of columns of two values mean."""
        for word in CODED:
            for header in self._mapped(word):
                cells = self.seen[header]
                if cells.pair and cells.indeterminate:
                    self._no_result(header, cells)
                told = header in self.made.dictionary.codes
                if (cells.coded and not told) or cells.n_distinct > 2 or not cells.n_distinct:
                    continue
                codes = self._codes(word, header, cells.distinct)
                self.entry.form.setdefault("values", {}).setdefault(word, {}).update(codes)

    def _mapped(self, word: str) -> Iterator[str]:
        """The headers of a word, where it has several one for each arm, reader or candidate."""
        column = self.columns.get(word)
        named = column.values() if isinstance(column, dict) else [column] if column else ()
        return (self.spread.get(str(name), str(name)) for name in named)

    def _units(self) -> None:
        """Times in milliseconds, confidence in per cent, scores with the sign of it."""
        for word, unit, most in (("seconds", "milliseconds", LONGEST), ("confidence", "percent", RANKED)):
            if any(self.seen[header].largest > most for header in self._mapped(word)):
                self.entry.form.setdefault("scale", {})[word] = unit
        for word in ("score", "advice_score"):
            if any(self.seen[header].percent for header in self._mapped(word)):
                self.entry.form.setdefault("scale", {})[word] = "percent"

    def _no_result(self, header: str, cells: Cells) -> None:
        """Words such as "invalid" as missing values."""
        words = cells.settle()
        form = self.entry.form
        form["missing"] = sorted({*form.get("missing", ()), *words})
        question = f"{self.place}, {header}: {' and '.join(words)} taken as no result; is that right?"
        if self.choose is None or self.choose(Doubt(question, ("yes", "no"), "yes")) == "yes":
            self.entry.about["missing"] = "" if self.choose else question

    def _codes(self, word: str, header: str, distinct: Sequence[str]) -> dict[str, str]:
        words = {name: self.made.dictionary.meaning(header, name) for name in distinct}
        known = {name: contracts.CODES.get(word.casefold(), "") for name, word in words.items()}
        # A letter alone says too little of the other value.
        sure = any(code and len(words[name]) > 1 for name, code in known.items())
        if len(distinct) == 2 and "" in known.values() and sure:
            other = "0" if "1" in known.values() else "1"
            known = {name: code or other for name, code in known.items()}
        if len(distinct) == 2 and set(known.values()) == {"0", "1"}:
            return known
        numbers = self.made.dictionary.numbers.get(header, {})
        coded = {name: numbers.get(name, "") for name in distinct}
        if set(coded.values()) == {"0", "1"}:
            return coded
        question = f"{self.place}, {header}: which value is 1 (positive)?"
        # Columns of the same cells mean the same by them.
        likeliest = self.made.positives.setdefault(frozenset(distinct), distinct[-1])
        positive = self.settle(Doubt(question, tuple(distinct), likeliest), "values")
        self.made.positives[frozenset(distinct)] = positive
        return {name: str(int(name == positive)) for name in distinct}

    def _arms(self) -> None:
        header = self.columns.get("arm")
        if header is None:
            per_arm = any(isinstance(h, dict) for h in self.columns.values())
            if any(squeezed(h).startswith("initial_") for h in self.headers):
                self.made.arms, self.made.design = {"unaided": False, "aided": True}, "sequential"
            elif not per_arm and not self.made.arms:
                self.made.arms = {"aided": True}
            return
        names = list(self.seen[header].distinct)
        known = vocabulary()["arms"]
        flags: dict[str, bool | None] = dict.fromkeys(names)
        for flag, words in ((True, "aided"), (False, "unaided")):
            own = {*known[words], *known[f"{words}_cells"]}
            flags |= {
                name: flag for name in names if squeezed(self.made.dictionary.meaning(header, name)) in own
            }
        if set(flags.values()) != {True, False} and len(names) > 1:
            question = f"{self.place}, {header}: which arm is with the device?"
            aided = self.of_all(Doubt(question, tuple(names), names[-1]), "arms")
            flags = {name: name == aided for name in names}
        if set(names) - {"aided", "unaided"}:
            self.made.arms = {name: bool(flag) for name, flag in flags.items()}

    def _design(self) -> None:
        """Arms that share no reader and case are parallel."""
        import pyarrow as pa

        words = ("reader", "case", "arm")
        if self.made.design or "arm" not in self.columns or self.seen[self.columns["arm"]].n_distinct == 1:
            return
        table = pa.table([self.column(self.columns[word]) for word in words], names=words)
        arms = table.group_by(["reader", "case"]).aggregate([("arm", "count_distinct")])["arm_count_distinct"]
        if max(arms.to_pylist(), default=0) == 1:
            question = "no reader has read a case in two arms; do the arms differ in readers or in cases?"
            options = ("parallel", "crossover", "split-plot")
            self.made.design = self.of_all(Doubt(question, options, "parallel"), "design")

    def _ranks(self) -> None:
        """Labels that are whole numbers are probably ranks."""
        headers = self.labels or [self.columns["label"]]
        cells = [self.seen[h] for h in headers]
        if all(c.is_whole for c in cells) and len({v for c in cells for v in c.distinct}) >= FEWEST_RANKS:
            question = f"{self.place}: are the labels ranks (ordinal) or names (nominal)?"
            self.made.label_scale = self.of_all(Doubt(question, ("ordinal", "nominal"), "ordinal"), "labels")
            if self.labels:
                about = "do these raters set the reference? Ratings, as of quality, are a table of values"
                self.entry.about.setdefault("unpivot", f"{self.place}: {about}")

    def _dataset(self) -> None:
        form, column = self.entry.form, self.columns.get("dataset")
        if column is None:
            role, about = self._role(self.stem)
            about |= self.entry.about
            self.made.datasets.append(
                {"dataset": self.stem, "role": role, "file": self.path, **form, "about": about}
            )
        else:
            self.entry.kind = "scores"
            self.made.entries.append(self.entry)
            periods = has_word(column, "period")
            days = self._days(column)
            names = sorted(self.seen[column].distinct, key=lambda name: days.get(name, ("", "")))
            for name in names:
                role, about = ("period", {}) if periods else self._role(name)
                dates = dict(zip(("start_date", "end_date"), days.get(name, ())))
                self.made.datasets.append({"dataset": name, "role": role, **dates, "about": about})
            if periods and self.made.kind == "vigilance" and len(names) > 1:
                question = f"{self.place}: which period is the baseline?"
                self.made.baseline = self.of_all(Doubt(question, tuple(names), names[0]), "baseline")
        score = self.columns.get("score")
        if score and "decision" not in self.columns:
            several = score if isinstance(score, dict) else {"": score}
            self.made.thresholds |= {name: self._threshold(header) for name, header in several.items()}

    def _threshold(self, header: str) -> str:
        """Where a threshold could be: the middle of shares, or of percentages."""
        high = self.seen[header].largest / (100 if self.seen[header].percent else 1)
        return "0.5" if high <= 1 else "50" if high <= 100 else "0"

    def _days(self, column: str) -> dict[str, tuple[str, str]]:
        """The first and the last day of each data set, where its cases have dates."""
        date = self.columns.get("date")
        if date is None:
            return {}
        form = self.entry.form.get("date_format", "") if self.seen[date].date_form else ""
        known = {cell: day(cell, form) for cell in self.seen[date].distinct}
        found: dict[str, set[str]] = {}
        for name, cell in zip(self.column(column).to_pylist(), self.column(date).to_pylist()):
            if name and known.get(cell):
                found.setdefault(name, set()).add(known[cell])
        return {name: (min(days), max(days)) for name, days in found.items()}

    def _role(self, name: str) -> tuple[str, dict[str, str]]:
        """The role that a data set's name gives it, and what is in doubt of it."""
        known = vocabulary()["roles"]
        role = next((r for r, pattern in known.items() if re.search(pattern, squeezed(name))), "")
        # Those who buy test on their own patients, whatever the file is called.
        if role in ("internal test", "external") and self.made.kind == "procurement":
            role = ""
        options = ("external", "internal test", "training", "tuning", "local", "period")
        likeliest = {"procurement": "local", "vigilance": "period"}.get(self.made.kind, "external")
        doubt = Doubt(f"what kind of data set is {name}?", options, role or likeliest)
        if self.choose:
            return self.choose(doubt), {}
        return doubt.likeliest, {} if role else {"role": doubt.question}
