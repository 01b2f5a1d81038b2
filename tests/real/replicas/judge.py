"""Judges what several replicas did, from the log of the API server and that of the store.

At any time one replica at most writes; nothing is written twice; what is generated once stays; whoever ends
is followed in time. Each rule is a function of what was logged, so that it can be tried on logs of one's own.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec import Struct, field

from syncret.config.meta import Document, member
from tests.real.replicas.audit import Write

LEASE_SECONDS: Final = 10.0
"""How long a Lease counts: later after its last renewal no write may come in."""

TAKEOVER: Final = 15.0
GRACEFUL: Final = 1.0
"""Within these seconds somebody else is active after a crash, and after a Lease was given back."""

GOES_ON: Final = 0.5
"""Within these seconds after a stop comes what was on its way to the socket."""

_OF_SERVER: Final = ("resourceVersion", "uid", "creationTimestamp", "generation", "managedFields")


class Term(Struct):
    """The time in which one replica held the Lease."""

    user: str
    holder: str
    renewals: list[float]
    """When they came in; the first is the taking of it."""
    ended: float | None = None
    """When it was given back, or another one took it."""
    was_given_back: bool = False

    @property
    def began(self) -> float:
        return self.renewals[0]

    def last_renewal(self, moment: float) -> float:
        """The newest one that had come in by then."""
        return max(each for each in self.renewals if each <= moment)


class Disturbance(NamedTuple):
    """What was done to whom."""

    what: str
    """As `kill`, `stop 12`, `end`, `reload`, `server`."""
    user: str
    """The replica; empty: the API server."""
    moment: float
    must_be_followed: bool = False
    """Whether the active one was met, and nothing else was wrong."""

    def explains(self, write: Write) -> bool:
        """Whether the write came as its replica went on after this stop."""
        went_on = self.moment + float(self.what.partition(" ")[2])
        return self.user == write.user and abs(write.received - went_on) <= GOES_ON


class Push(NamedTuple):
    """A value that the store took."""

    key: str
    value: str
    moment: float


class Verdict(Struct):
    """What was found."""

    violations: list[str] = field(default_factory=list[str])
    writes: int = 0
    late: int = 0
    """Writes of a replica that was not active any more, all of them refused."""
    half_way: int = 0
    """Writes on their way to the socket as their replica was stopped, one for a stop at most."""
    oldest: float = 0.0
    """The longest time between a renewal and a write that it allowed."""
    terms: int = 0
    takeovers: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """Seconds until somebody was active, by what had been done to the one before."""


def terms_of(writes: Iterable[Write]) -> list[Term]:
    """Who held the Lease when, in the order of its versions."""
    done = [each for each in writes if each.resource == "leases" and each.is_done]
    terms: list[Term] = []
    for write in sorted(done, key=lambda each: each.version):
        holder = str(member(write.sent, "spec").get("holderIdentity") or "")
        current = terms[-1] if terms and terms[-1].ended is None else None
        if current is not None and current.holder == holder:
            current.renewals.append(write.received)
            continue
        if current is not None:
            current.ended, current.was_given_back = write.received, not holder
        if holder:
            terms.append(Term(write.user, holder, [write.received]))
    return terms


def one_writer(
    writes: Iterable[Write], terms: Sequence[Term], disturbances: Iterable[Disturbance], verdict: Verdict
) -> None:
    """S1, S3, S5: a write is carried out only for who holds the Lease, and was renewing it."""
    stopped = [each for each in disturbances if each.what.startswith("stop ")]
    for write in writes:
        if not write.is_of_replica or write.resource == "leases":
            continue
        held = [each for each in terms if each.user == write.user and each.began <= write.received]
        term = held[-1] if held else None
        is_late = term is None or (term.ended is not None and write.received > term.ended)
        if not write.is_done:
            verdict.late += is_late and write.code > 0
            continue
        verdict.writes += 1
        if term is None or is_late:
            half_way = next((each for each in stopped if each.explains(write)), None)
            if half_way is None:
                verdict.violations.append(f"written without the Lease: {write}")
            else:
                stopped.remove(half_way)
                verdict.half_way += 1
            continue
        if term.ended is not None and write.answered > term.ended:
            verdict.violations.append(f"still under way when the Lease went to another: {write}")
        age = write.received - term.last_renewal(write.received)
        verdict.oldest = max(verdict.oldest, age)
        if age > LEASE_SECONDS:
            verdict.violations.append(f"written {age:.1f} s after the last renewal: {write}")


def _content(write: Write) -> Document:
    """What a write of a whole object says, but for what the server fills in."""
    metadata = {name: each for name, each in member(write.sent, "metadata").items() if name not in _OF_SERVER}
    return {**write.sent, "metadata": metadata}


def _by_object(writes: Iterable[Write], *resources: str) -> Mapping[tuple[str, str, str], list[Write]]:
    found: defaultdict[tuple[str, str, str], list[Write]] = defaultdict(list)
    for write in writes:
        if write.resource in resources:
            found[write.resource, write.namespace, write.name].append(write)
    return found


def nothing_twice(writes: Sequence[Write]) -> Iterator[str]:
    """A Secret or status is not written again as it was left, unless somebody else came in between."""
    for history in _by_object(writes, "secrets").values():
        last: Document | None = None
        for write in (each for each in history if each.is_done):
            is_whole = write.is_of_replica and write.verb in {"create", "update"}
            now = _content(write) if is_whole else None
            if now is not None and now == last:
                yield f"written twice: {write}"
            last = now
    statuses = {each.resource for each in writes if each.resource.endswith("/status")}
    for history in _by_object(writes, *statuses).values():
        said: Document | None = None
        for write in (each for each in history if each.is_done and each.is_of_replica):
            now = _content(write)
            if now == said:
                yield f"said twice: {write}"
            said = now


def nothing_redrawn(writes: Iterable[Write], once: Mapping[str, bool]) -> Iterator[str]:
    """Of a Secret whose value is generated once, no other value is ever written.

    `once` says of each name whether the Secret alone tells that it was; of others the status does, so that
    one whose replica crashed before it wrote that is generated again.
    """
    history = [each for each in writes if each.name in once and each.is_done]
    drawn: dict[str, Document] = {}
    reported: set[str] = set()
    for write in history:
        name = write.name
        if write.resource == "externalsecrets/status":
            reported.add(name)
        elif write.resource == "secrets" and write.verb in {"create", "update"}:
            value = member(write.sent, "data")
            if drawn.setdefault(name, value) != value and (once[name] or name in reported):
                yield f"drawn again: {write}"
            drawn[name] = value
            reported.discard(name)


def pushes_in_order(pushes: Iterable[Push]) -> Iterator[str]:
    """The store is given each value once, and never an older one after a newer one. Values are numbers."""
    newest: dict[str, int] = {}
    for push in pushes:
        number, before = int(push.value), newest.get(push.key)
        if before is not None and number == before:
            yield f"pushed twice: {push.key} = {push.value} at {push.moment:.3f}"
        elif before is not None and number < before:
            yield f"pushed late: {push.key} = {push.value} after {before} at {push.moment:.3f}"
        newest[push.key] = number


def followed(disturbances: Iterable[Disturbance], terms: Sequence[Term], verdict: Verdict) -> None:
    """S2: somebody is active soon after the active one crashed, hung or ended."""
    for each in disturbances:
        if not each.must_be_followed:
            continue
        hit = [term for term in terms if term.user == each.user and term.began <= each.moment]
        ended = hit[-1].ended if hit and hit[-1].was_given_back else None
        since = each.moment if ended is None else ended
        next_ = next((term.began for term in terms if term.began >= since and term is not hit[-1]), None)
        limit = TAKEOVER if ended is None else GRACEFUL
        if next_ is None:
            verdict.violations.append(f"nobody followed {each.user} after {each.what} at {each.moment:.3f}")
            continue
        took = next_ - since
        verdict.takeovers.setdefault(each.what, []).append(took)
        if took > limit:
            verdict.violations.append(f"{each.user} was followed {took:.1f} s after {each.what}")


def judged(
    writes: Sequence[Write],
    *,
    once: Mapping[str, bool] = MappingProxyType({}),
    pushes: Iterable[Push] = (),
    disturbances: Iterable[Disturbance] = (),
) -> Verdict:
    """All rules."""
    terms = terms_of(writes)
    verdict = Verdict(terms=len(terms))
    disturbances = list(disturbances)
    one_writer(writes, terms, disturbances, verdict)
    verdict.violations += nothing_twice(writes)
    verdict.violations += nothing_redrawn(writes, once)
    verdict.violations += pushes_in_order(pushes)
    followed(disturbances, terms, verdict)
    return verdict
