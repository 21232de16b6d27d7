"""The paired table: every case decided without and with the aid."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class PairedTable:
    """How often a case was decided right with and without the aid.

    Each field counts pairs: one reader and one case, decided in both arms.

    >>> PairedTable(30, 12, 4, 9).n
    55
    """

    both_right: int
    aided_right_unaided_wrong: int
    aided_wrong_unaided_right: int
    both_wrong: int

    def __post_init__(self) -> None:
        for field in fields(self):
            count = getattr(self, field.name)
            if not (count >= 0 and count == int(count)):
                raise ValueError(f"{field.name} must be a count (0, 1, 2, ...), got {count}.")
            object.__setattr__(self, field.name, int(count))

    @property
    def n(self) -> int:
        """All pairs."""
        return self.both_right + self.discordant + self.both_wrong

    @property
    def discordant(self) -> int:
        """Pairs in which exactly one of the two decisions is right."""
        return self.aided_right_unaided_wrong + self.aided_wrong_unaided_right

    @property
    def errors_aided(self) -> int:
        """Wrong decisions with the aid."""
        return self.aided_wrong_unaided_right + self.both_wrong

    @property
    def errors_unaided(self) -> int:
        """Wrong decisions without the aid."""
        return self.aided_right_unaided_wrong + self.both_wrong
