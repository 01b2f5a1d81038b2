"""Statistics of a cluster home about its API server, for probes and metrics."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

NO_ANSWER: Final = "<error>"
"""Stands for a missing status code, as in client-go."""

LONGEST_OUTAGE: Final = 60.0
"""Seconds without an API server after which a daemon counts as not ready."""

BRIEF: Final = 5.0
"""Seconds for which a watch may be cut off, as each is every few minutes, without being reported."""

_SUBRESOURCES: Final = {"status", "finalize"}


class Fence(NamedTuple):
    """A replica's part in the election, read when it is asked for."""

    lease: str
    left: Callable[[], float]
    """Seconds for which it may still write; 0 while it stands by."""
    holder: Callable[[], str]
    """The identity of the active replica, as far as is known."""


@dataclass(slots=True)
class StreamState:
    """One watch: how far it is, and since when it has not been up to date, in the loop's time."""

    kind: str
    behind_since: float | None
    is_unknown: bool = False
    """Whether it cannot be watched: that is reported elsewhere, and may last."""
    has_synced: bool = False

    def is_missed(self, now: float) -> bool:
        """Whether it should be up to date and is not."""
        if self.behind_since is None or self.is_unknown:
            return False
        return not self.has_synced or now - self.behind_since > BRIEF


@dataclass(slots=True)
class ClusterStats:
    """Counted by the home, from its opening on."""

    host: str = ""
    requests: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    """By verb, kind and code."""
    sent: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """By code and HTTP method."""
    kinds: dict[str, str] = field(default_factory=lambda: {"leases": "Lease", "events": "Event"})
    """The kinds of resources, by the names that they have in paths."""
    streams: list[StreamState] = field(default_factory=list[StreamState])
    restarts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """By kind and cause."""
    events_dropped: int = 0
    unreachable_since: float | None = None
    fence: Fence | None = None
    """None: the only replica."""
    foreign_writers: Callable[[], Mapping[str, str]] = dict
    """The signs of another operator, by the kind of object that shows them: nothing is written then."""

    def answered(self, method: str, path: str, code: int | None, *, watches: bool = False) -> None:
        """Count one request; without a code there was no answer."""
        verb, plural = asked(method, path)
        status = NO_ANSWER if code is None else str(code)
        self.requests["watch" if watches else verb, self.kinds.get(plural, plural), status] += 1
        self.sent[status, method] += 1

    def conflicts(self) -> Mapping[str, int]:
        """The number of writes that were refused because the object had changed, by kind."""
        found: Counter[str] = Counter()
        for (_, kind, code), count in self.requests.items():
            if code == "409":
                found[kind] += count
        return found

    def behind(self, now: float) -> Mapping[str, float]:
        """For how many seconds the watches of each kind have been behind; 0: they are up to date."""
        found: dict[str, float] = {}
        for each in self.streams:
            lag = 0.0 if each.behind_since is None else now - each.behind_since
            found[each.kind] = max(lag, found.get(each.kind, 0.0))
        return found

    def not_ready(self, now: float) -> Iterator[str]:
        """The reasons why this daemon is not ready, for probes; empty if it is."""
        away = 0.0 if self.unreachable_since is None else now - self.unreachable_since
        if away > LONGEST_OUTAGE:
            yield f"the API server has not answered for {away:.0f} s"
        unlisted = {each.kind for each in self.streams if each.is_missed(now)}
        if not self.streams:
            yield "no kind is watched yet"
        elif unlisted and away <= LONGEST_OUTAGE:
            yield f"not synced: {', '.join(sorted(unlisted))}"
        yield from self.foreign_writers().values()
        if self.fence is not None and not self.fence.holder():
            yield f"the Lease {self.fence.lease} has no holder yet"


def asked(method: str, path: str) -> tuple[str, str]:
    """Verb and resource of a request, as RBAC has them."""
    parts = path.strip("/").split("/")
    rest = parts[2:] if parts[0] == "api" else parts[3:]
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in _SUBRESOURCES:  # noqa: PLR2004  # their path
        rest = rest[2:]
    verbs = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
    verb = verbs.get(method) or ("get" if len(rest) != 1 else "list")
    return verb, rest[0] if rest else ""
