"""The form that every dimension has: its question, what it needs of a study, how it answers."""

from collections.abc import Callable
from dataclasses import dataclass

from trustreport.assessment.finding import Finding, Unanswered
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import say


@dataclass(frozen=True, slots=True)
class Dimension:
    """One question of trust.

    Its texts stand in the catalogue under its name (``title``, ``question``, ``lacking``), its template
    is ``dimensions/<name>.html.j2``. `has_data` says whether a study holds what the question needs. One
    that is `shared` takes ``run``, by which independent pieces of its work may be given to other processes.
    `applies` says whether the question arises at all; where it does not, the report is silent about it.
    """

    name: str
    has_data: Callable[[Study, Plan], bool]
    answer: Callable[..., Finding]
    shared: bool = False
    applies: Callable[[Study, Plan], bool] = lambda study, plan: True

    def lacks(self, study: Study, plan: Plan) -> Unanswered | None:
        """Why the question stays open for this study, or None when it can be answered."""
        return None if self.has_data(study, plan) else Unanswered(self.name, say(f"{self.name}.lacking"))
