"""Columns that are taken by their cells: the truth, what readers decided, what the device says."""

import re
from collections.abc import Sequence

from trustreport.study.ingest import contracts
from trustreport.study.ingest.tables import BY_PLACE
from trustreport.study.proposal import special
from trustreport.study.proposal.labels import is_mined
from trustreport.study.proposal.parts import GLANCE, Doubt, ExaminedTable, has_word, is_group, squeezed
from trustreport.study.proposal.shapes import arms_in_columns

FEW = 12  # values of a column of groups
CODED = ("truth", "decision", "advice")
OF_REFERENCE = re.compile(r"(?:reference|referenz|riferimento|ref|gold|truth)_(.+)")
GRADED = ("score", "decision")
MOST_READERS = 50
CODED_CELLS = {"1", "2"}  # codes that say nothing of yes and no


class TableByCells(ExaminedTable):
    """A table whose columns are looked for by their cells, where no header names them."""

    def _may_be(self, word: str, header: str) -> bool:
        cells = self.seen[header]
        if (self.path.name, word, header) in self.made.refused.uses:
            return False
        if word == "truth" and squeezed(header) == "y" and "x" in map(squeezed, self.headers):
            return False  # a place, not an outcome
        if word in CODED:
            several = word == "truth" and cells.n_distinct <= FEW and not cells.numeric
            return cells.n_distinct <= 2 or bool(cells.pair) or several
        if word in ("score", "advice_score", "seconds", "confidence", *special.COORDINATES):
            return cells.numeric and (word != "score" or cells.n_distinct > 2)
        if word in ("date", "read_at"):
            return cells.is_date
        if word in ("arm", "dataset", "candidate", "version", "site"):
            return cells.n_distinct <= 50
        if word == "rater":  # the name of an expert, or what the expert says
            return squeezed(header) == word or not cells.is_call
        return True

    def _is_output(self, header: str) -> bool:
        """Whether a column looks like what a model gives for each case."""
        cells = self.seen[header]
        return (
            cells.is_share
            or (cells.percent and cells.numeric)
            or (cells.numeric and cells.n_distinct > 2 and has_word(header, "score"))
        )

    def _case(self, taken: set[str]) -> None:
        """The case, where no header names it: a column without a header that has another cell in each row."""
        free = [h for h in self.headers if h.startswith(BY_PLACE) and h not in taken]
        found = [h for h in free if self.seen[h].n_distinct == min(self.raw.n_rows - self.unit_row, GLANCE)]
        if found and {"case", "patient"}.isdisjoint(self.columns):
            question = f"{self.place}: which column is the case? {found[0]} has no header"
            self.columns["case"] = self.settle(Doubt(question, tuple(found), found[0]), "columns")
            taken.add(self.columns["case"])

    def _reader(self, taken: set[str]) -> None:
        """The reader, where no header names it: with two arms, what tells the rows of a case apart."""
        import pyarrow as pa

        have = self.columns
        per_arm = arms_in_columns([h for h in self.headers if h not in taken and self.seen[h].pair])
        per_arm = per_arm or {w: h for w, h in have.items() if isinstance(h, dict)}
        if "case" not in have or {"reader", "rater"} & have.keys() or not ("arm" in have or per_arm):
            return
        keys = [have[word] for word in ("case", "arm") if word in have]

        def separates(headers: Sequence[str]) -> bool:
            rows = pa.table([self.column(h) for h in headers], names=[str(i) for i, _ in enumerate(headers)])
            return rows.num_rows == rows.group_by(rows.column_names).aggregate([]).num_rows

        if separates(keys):
            return
        of_arms = [h for own in per_arm.values() for h in own.values()]
        free = [h for h in self.headers if h not in taken and h not in of_arms and not is_group(h)]
        free = [h for h in free if 1 < self.seen[h].n_distinct <= MOST_READERS and not self.seen[h].is_date]
        found = [h for h in free if separates([*keys, h])]
        if found:
            question = f"{self.place}: which column is the reader?"
            found.sort(key=lambda h: not h.startswith(BY_PLACE))
            have["reader"] = self.settle(Doubt(question, tuple(found), found[0]), "columns")
            taken.add(have["reader"])

    def _judgement(self, taken: set[str]) -> None:
        """What readers decided, where no header names it: the column of yes and no, or which of several."""
        if not {"reader", "case"} <= self.columns.keys() or {*GRADED, "label"} & self.columns.keys():
            return
        free = [h for h in self.headers if h not in taken and not is_group(h) and self._may_be("decision", h)]
        clear = [h for h in free if self.seen[h].is_yes_or_no or self._means_yes_or_no(h)]
        truth = self.seen[self.columns["truth"]].pair if "truth" in self.columns else ()
        alike = [h for h in free if self.seen[h].pair and set(self.seen[h].pair) in (set(truth), CODED_CELLS)]
        found = list(dict.fromkeys([*clear, *alike]))
        if found:
            question = f"{self.place}: which column is the decision of the readers?"
            doubt = Doubt(question, tuple(found), found[0])
            one = found[0] if found == clear and len(clear) == 1 else self.settle(doubt, "columns")
            self.columns["decision"] = one
            taken.add(one)

    def _means_yes_or_no(self, header: str) -> bool:
        """Whether the codes of a column of two are words for yes or no in the dictionary."""
        meant = self.made.dictionary.codes.get(header, {})
        words = [meant.get(cell, "") for cell in self.seen[header].pair]
        return any(word.casefold() in contracts.CODES for word in words)

    def _tests(self, taken: set[str]) -> None:
        """Several tests that together are the reference: reference_pcr and reference_culture."""
        if {"truth", "reader", "rater"} & self.columns.keys():
            return
        free = [h for h in self.headers if h not in taken and self.seen[h].is_yes_or_no]
        tests = {found[1]: h for h in free if (found := OF_REFERENCE.fullmatch(squeezed(h)))}
        if len(tests) > 1:
            self.columns["truth"] = tests
            taken |= set(tests.values())

    def _truth(self, taken: set[str]) -> None:
        """The truth by its cells, where no header names it."""
        if "reader" in self.columns:
            self._truth_of_readings(taken)
            return
        graded = "score" in self.columns or any(self._is_output(h) for h in self.headers if h not in taken)
        unanswered = not self.may("scores")  # without a truth
        if {"truth", "follow_up", "reader", "rater"} & self.columns.keys() or not (graded or unanswered):
            return
        free = [h for h in self.headers if h not in taken and not is_group(h)]
        if graded and "decision" in self.columns:
            free.append(self.columns["decision"])
        found = [h for h in free if self.seen[h].is_yes_or_no]
        if not found and unanswered:
            found = [h for h in free if self.seen[h].pair]
        self._ask_truth([h for h in found if self._may_be("truth", h)], taken)

    def _truth_of_readings(self, taken: set[str]) -> None:
        """The column with the cells of the decisions that is the same in all readings of a case."""
        import pyarrow as pa

        have = self.columns
        if not self.made.of_one_file or "truth" in have or not {"decision", "case"} <= have.keys():
            return
        called = have["decision"]
        per_arm = list(called.values()) if isinstance(called, dict) else [called]
        calls = {cell for arm in per_arm for cell in self.seen[self.spread.get(arm, arm)].distinct}
        free = [h for h in self.headers if h not in taken and set(self.seen[h].distinct) == calls]

        def is_of_cases(header: str) -> bool:
            table = pa.table([self.column(have["case"]), self.column(header)], names=["case", "cell"])
            counts = table.group_by("case").aggregate([("cell", "count_distinct")])["cell_count_distinct"]
            return max(counts.to_pylist(), default=0) == 1

        self._ask_truth([h for h in free if self._may_be("truth", h) and is_of_cases(h)], taken)

    def _ask_truth(self, found: Sequence[str], taken: set[str]) -> None:
        if not found:
            return
        header = found[0]
        if found[1:] or not is_mined(header):  # of a label its error is asked
            question = f"{self.place}: which column is the reference standard?"
            header = self.settle(Doubt(question, tuple(found), header), "columns")
        if header == self.columns.get("decision"):
            del self.columns["decision"]
        self.columns["truth"] = header
        taken.add(header)

    def _calls_of_device(self) -> None:
        """What the device says of each case, where no header names it: yes and no, else a number."""
        if not self.columns.keys().isdisjoint((*GRADED, "class_scores")):
            return
        of = self.columns["truth"]
        truth = set(self.seen[next(iter(of.values())) if isinstance(of, dict) else of].distinct)
        used = [*self.columns.values(), *(of.values() if isinstance(of, dict) else ())]
        free = [h for h in self.headers if h not in used and not is_group(h) and self.seen[h].pair]
        found = [h for h in free if set(self.seen[h].distinct) == truth]
        found = found or [h for h in free if self.seen[h].is_yes_or_no]
        if found:
            question = f"{self.place}: which column is the decision of the device?"
            self.columns["decision"] = self.settle(Doubt(question, tuple(found), found[0]), "columns")
            return
        numbers = [h for h in self.headers if h not in used and self._may_be("score", h) and not is_group(h)]
        if numbers and not self.may("cases"):  # as a table of cases it answered nothing
            question = f"{self.place}: which column is the score of the device?"
            likeliest = next((h for h in numbers if not self.seen[h].is_whole), numbers[0])
            self.columns["score"] = self.settle(Doubt(question, tuple(numbers), likeliest), "columns")
