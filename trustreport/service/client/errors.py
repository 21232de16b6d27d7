"""The one exception of the client."""

from collections.abc import Mapping, Sequence
from typing import Any


class ServiceError(Exception):
    """A request that was not done, in the service's own words.

    Attributes
    ----------
    status : the HTTP status; 0 where no answer came, or where a job ended without a report
    title, detail : why, as the service says it
    fields : the parts of the request that are wrong, each with the reason
    request : the name of the request in the service's log, for its operator
    retry_after : seconds after which the service says that it is worth trying again
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str = "",
        *,
        fields: Sequence[tuple[str, str]] = (),
        request: str = "",
        retry_after: float | None = None,
    ) -> None:
        self.status, self.title, self.detail = status, title, detail
        self.fields, self.request, self.retry_after = tuple(fields), request, retry_after
        super().__init__(str(self))

    def __str__(self) -> str:
        """All of it in one line.

        >>> print(ServiceError(422, "Not as expected", "1 part.", fields=[("body.name", "is too long")]))
        Not as expected (422): 1 part. body.name: is too long.
        """
        status = f" ({self.status})" if self.status else ""
        text = f"{self.title}{status}: {self.detail}".removesuffix(": ")
        wrong = " ".join(f"{place}: {why.rstrip('.')}." for place, why in self.fields)
        return f"{text} {wrong}".rstrip()

    @classmethod
    def of_response(
        cls, status: int, body: Mapping[str, Any] | None, reason: str, retry_after: float | None
    ) -> "ServiceError":
        """The error that an answer means; `body` is its problem+json, None where it has none."""
        if body is None:  # of a proxy in between
            return cls(status, reason or "Not done", retry_after=retry_after)
        fields = [(str(f.get("place", "")), str(f.get("said", ""))) for f in body.get("fields", ())]
        return cls(
            status,
            str(body.get("title", reason)),
            str(body.get("detail", "")),
            fields=fields,
            request=str(body.get("request", "")),
            retry_after=retry_after,
        )
