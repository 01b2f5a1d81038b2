"""The state machine of a delivery: its phases, and which phase follows from each outcome.

The row that holds the phase is durable before the work of the phase begins. So after a crash at any moment
the next start knows what may have happened (see `recovery`). Nothing here touches a file.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace


class Phase(StrEnum):
    """The phase of a delivery; `status.phase`."""

    SETTLED = "Settled"
    STAGING = "Staging"
    CHECKING = "Checking"
    SWAPPING = "Swapping"
    SWAPPED = "Swapped"
    RELOADING = "Reloading"
    VERIFYING = "Verifying"
    ROLLING_BACK = "RollingBack"
    RELOADING_OLD = "ReloadingOld"
    BROKEN = "Broken"


class Reason(StrEnum):
    """Why a Delivery is ready or not; the reason of its condition."""

    PENDING = "Pending"
    DELIVERED = "Delivered"
    STAGE_FAILED = "StageFailed"
    CHECK_FAILED = "CheckFailed"
    SWAP_FAILED = "SwapFailed"
    RELOAD_FAILED = "ReloadFailed"
    UNHEALTHY = "Unhealthy"
    ROLLED_BACK = "RolledBack"
    BROKEN = "Broken"
    REFUSED = "Refused"
    SOURCE_MISSING = "SourceMissing"
    SOURCE_STALE = "SourceStale"
    SUSPENDED = "Suspended"
    CONTENDED = "Contended"
    THROTTLED = "Throttled"


class Outcome(StrEnum):
    """How the work of a phase ended."""

    DONE = "done"
    """Complete; of a swap or a rollback: one target."""
    FAILED = "failed"
    NOT_RUNNING = "not running"
    """The unit or process to reload does not run: it reads the files when it starts."""
    NOT_THERE = "not there"
    """The unit to reload is unknown or masked."""
    NOT_ASKED = "not asked"
    """The reload could not be requested: it is not allowed, or systemd does not answer. It is tried again."""


class Attempt(Struct, frozen=True, kw_only=True):
    """The request of a reload: when it was made, and what identifies the unit after a crash."""

    at: float
    """Seconds of the monotonic clock, which counts from boot."""
    boot: str
    invocation: str = ""
    """The InvocationID of the unit, which changes with each start."""
    restarts: int = 0
    """How often the unit had restarted by itself."""


class Row(Struct, frozen=True, kw_only=True):
    """The recorded state of one Delivery. Sets are identified by keyed digests."""

    phase: Phase = Phase.SETTLED
    generation: int = 0
    """Number of the live set; 0 if nothing has been delivered."""
    live: str = ""
    coming: str = ""
    """The set that is being delivered."""
    rejected: str = ""
    """The set that failed last, which is not tried again until something changes."""
    targets: int = 0
    done: int = 0
    """How many targets have been swapped; during a rollback, how many have not been swapped back yet."""
    staged: tuple[tuple[int, int], ...] = ()
    """Device and inode of what is staged for each target: a swap keeps them."""
    asked: Attempt | None = None
    reason: Reason = Reason.PENDING
    cause: Reason | None = None
    """Why the set that is rolled back failed."""


class Steps(Struct, frozen=True, kw_only=True):
    """Which steps a Delivery has."""

    check: bool = False
    reload: bool = False
    keep: bool = False
    """Whether a set that fails after its swap stays: `onFailure: keep`."""


class Wanted(Struct, frozen=True, kw_only=True):
    """What should be live, and why a rejected set may be tried again."""

    set: str
    drifted: bool = False
    """Whether another program changed what is live."""
    spec_changed: bool = False
    refreshed: bool = False
    """Whether a user requested it."""


class Impossible(AssertionError):
    """A phase cannot have this outcome: a bug of the caller."""


def is_wanted(row: Row, wanted: Wanted) -> bool:
    """Whether a new delivery has to begin; never while one is under way."""
    if row.phase not in (Phase.SETTLED, Phase.BROKEN):
        return False
    asked = wanted.spec_changed or wanted.refreshed
    if wanted.set == row.rejected or row.phase is Phase.BROKEN:
        return asked or wanted.set != row.rejected
    return wanted.drifted or wanted.spec_changed or wanted.set != row.live


def begin(row: Row, wanted: Wanted, targets: int) -> Row:
    """The row before anything is staged."""
    return replace(
        row,
        phase=Phase.STAGING,
        coming=wanted.set,
        targets=targets,
        done=0,
        staged=(),
        asked=None,
        cause=None,
    )


def turn(row: Row, attempt: Attempt | None, steps: Steps) -> Row:
    """The row of a swapped set that has its turn; `attempt` is the reload that is requested next."""
    if row.phase is not Phase.SWAPPED:
        raise Impossible(f"{row.phase} waits for no turn")
    return replace(row, phase=Phase.RELOADING if steps.reload else Phase.VERIFYING, asked=attempt)


def advance(row: Row, outcome: Outcome, steps: Steps) -> Row:
    """The row after the work of its phase. Raises Impossible."""
    follow = _FOLLOW.get((row.phase, outcome))
    if follow is None:
        raise Impossible(f"{row.phase} cannot end as {outcome}")
    return follow(row, steps)


def _settled(row: Row, reason: Reason, *, is_live: bool, rejected: str = "") -> Row:
    return Row(
        generation=row.generation + is_live,
        live=row.coming if is_live else row.live,
        rejected=rejected,
        reason=reason,
    )


def _staged(row: Row, steps: Steps) -> Row:
    return replace(row, phase=Phase.CHECKING if steps.check else Phase.SWAPPING)


def _not_staged(row: Row, _steps: Steps) -> Row:
    return _settled(row, Reason.STAGE_FAILED, is_live=False)


def _checked(row: Row, _steps: Steps) -> Row:
    return replace(row, phase=Phase.SWAPPING)


def _check_failed(row: Row, _steps: Steps) -> Row:
    return _settled(row, Reason.CHECK_FAILED, is_live=False, rejected=row.coming)


def _check_not_run(row: Row, _steps: Steps) -> Row:
    """The check could not run: the set is tried again."""
    return _settled(row, Reason.CHECK_FAILED, is_live=False)


def _swapped(row: Row, _steps: Steps) -> Row:
    done = row.done + 1
    return replace(row, done=done, phase=Phase.SWAPPED if done >= row.targets else Phase.SWAPPING)


def _not_swapped(row: Row, _steps: Steps) -> Row:
    """The caller has swapped back the targets that were done."""
    return _settled(row, Reason.SWAP_FAILED, is_live=False)


def _reloaded(row: Row, _steps: Steps) -> Row:
    return replace(row, phase=Phase.VERIFYING)


def _delivered(row: Row, _steps: Steps) -> Row:
    return _settled(row, Reason.DELIVERED, is_live=True)


def _no_unit(row: Row, _steps: Steps) -> Row:
    return _settled(row, Reason.RELOAD_FAILED, is_live=True)


def _reload_pending(row: Row, _steps: Steps) -> Row:
    return replace(row, phase=Phase.SWAPPED, asked=None, reason=Reason.RELOAD_FAILED)


def _failed(cause: Reason) -> Callable[[Row, Steps], Row]:
    """The new set is live and fails: roll back to the old one, if there is one and the spec allows it."""

    def follow(row: Row, steps: Steps) -> Row:
        if steps.keep or row.generation == 0:
            return _settled(row, cause, is_live=True)
        return replace(row, phase=Phase.ROLLING_BACK, done=row.targets, asked=None, cause=cause)

    return follow


def _swapped_back(row: Row, steps: Steps) -> Row:
    done = row.done - 1
    if done > 0:
        return replace(row, done=done)
    if steps.reload:
        return replace(row, done=0, phase=Phase.RELOADING_OLD)
    return _rolled_back(row, steps)


def _rolled_back(row: Row, _steps: Steps) -> Row:
    return _settled(row, Reason.ROLLED_BACK, is_live=False, rejected=row.coming)


def _broken(row: Row, _steps: Steps) -> Row:
    return replace(row, phase=Phase.BROKEN, rejected=row.coming, reason=Reason.BROKEN, asked=None)


_FOLLOW: Final[Mapping[tuple[Phase, Outcome], Callable[[Row, Steps], Row]]] = {
    (Phase.STAGING, Outcome.DONE): _staged,
    (Phase.STAGING, Outcome.FAILED): _not_staged,
    (Phase.CHECKING, Outcome.DONE): _checked,
    (Phase.CHECKING, Outcome.FAILED): _check_failed,
    (Phase.CHECKING, Outcome.NOT_ASKED): _check_not_run,
    (Phase.SWAPPING, Outcome.DONE): _swapped,
    (Phase.SWAPPING, Outcome.FAILED): _not_swapped,
    (Phase.RELOADING, Outcome.DONE): _reloaded,
    (Phase.RELOADING, Outcome.FAILED): _failed(Reason.RELOAD_FAILED),
    (Phase.RELOADING, Outcome.NOT_RUNNING): _delivered,
    (Phase.RELOADING, Outcome.NOT_THERE): _no_unit,
    (Phase.RELOADING, Outcome.NOT_ASKED): _reload_pending,
    (Phase.VERIFYING, Outcome.DONE): _delivered,
    (Phase.VERIFYING, Outcome.FAILED): _failed(Reason.UNHEALTHY),
    (Phase.ROLLING_BACK, Outcome.DONE): _swapped_back,
    (Phase.ROLLING_BACK, Outcome.FAILED): _broken,
    (Phase.RELOADING_OLD, Outcome.DONE): _rolled_back,
    (Phase.RELOADING_OLD, Outcome.NOT_RUNNING): _rolled_back,
    (Phase.RELOADING_OLD, Outcome.NOT_THERE): _rolled_back,
    (Phase.RELOADING_OLD, Outcome.NOT_ASKED): lambda row, _steps: row,
    (Phase.RELOADING_OLD, Outcome.FAILED): _broken,
}
