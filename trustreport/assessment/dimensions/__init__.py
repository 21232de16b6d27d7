"""The dimensions of trust, in the order of the report.

How a dimension is written
--------------------------
A folder has these files, and no others:

``__init__``
    The question as docstring; `has_data`, `answer` and ``DIMENSION``. `answer` goes through data sets,
    tasks or tables, asks the other files for results and parts, and ends with ``text.finding(parts,
    results, not_shown)``.
``results``
    Numbers: study and plan in, frozen objects with `Result`s out. The name of the dimension is ``NAME``,
    here. What several sentences or tables need of one data set or task is a frozen object with its place
    and results and a few properties; there is one such class, not one for numbers and another for words.
``words``
    ``text = Texts(NAME)`` and what is said of the results (`trustreport.assessment.narrative.texts`). Where
    it would grow beyond what is read at once, a question of its own has its words in a second file
    (``chart_words``, ``contest_words``).
one file a question of its own (``actual_accuracy``, ``protocols``)
    Numbers and words together, numbers first. Its texts have a name of their own where they are many:
    ``text = Texts(f"{NAME}.protocols")``. A dimension of one question may have its words in ``results``
    alone.

What is said of one thing is a generator that yields sentences, tables and figures in the order in which
they are read; `Texts.part` puts it together. It gives keys and results, and no more:

- A sentence is a text of the catalogue. ``text("key", estimate, n=3)`` gives it the numbers; `of_estimate`
  chooses between ``key``, ``key_no_interval`` and ``key_undefined``. Code does not put a sentence together
  from pieces.
- A table is a line of words for its columns and a tuple for each row. The heading and the way to write come
  from the quantity or from `COLUMNS`; only what this dimension alone has (``.against``) is a text of its
  own. A cell that is NaN or None is empty, a bool is yes or no: neither is turned into text before.
- A table of results (label, number, interval, n, method) is ``text.estimates(id, caption, results)``, or
  ``text.labelled(id, caption, pairs)`` where a result does not tell its own label.
- A title that names its task where there are several is ``text.title(name, alone=alone)``.
- A figure's caption and its words for those who do not see it are ``figure.<key>`` and
  ``figure.<key>_alt``.

Names are the same in every dimension: ``found`` or ``one`` is what is said something of, ``number`` ends
the ids of its tables and figures, ``lead`` is the primary estimate. A function that is used once and has
few lines stands where it is used. No dimension imports another; what two need is in `performance` (numbers)
or `narrative` (words).
"""

from trustreport.assessment.dimensions import (
    advice_accuracy,
    advice_value,
    candidates,
    decision_benefit,
    localisation,
    measurement,
    potential_robustness,
    pragmatic_utility,
    reliance,
    reported,
    source_reliability,
    subgroups,
    vigilance,
)
from trustreport.assessment.dimensions.dimension import Dimension

__all__ = ["DIMENSIONS", "Dimension"]

DIMENSIONS: tuple[Dimension, ...] = (
    source_reliability.DIMENSION,
    advice_accuracy.DIMENSION,
    localisation.DIMENSION,
    measurement.DIMENSION,
    pragmatic_utility.DIMENSION,
    decision_benefit.DIMENSION,
    localisation.READERS,
    measurement.BY_READERS,
    reliance.DIMENSION,
    advice_value.DIMENSION,
    candidates.DIMENSION,
    potential_robustness.DIMENSION,
    subgroups.DIMENSION,
    vigilance.DIMENSION,
    reported.DIMENSION,
)
