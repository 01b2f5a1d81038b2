"""The phases of a delivery: what is done next, and what follows from how it went.

A row of the state file holds the phase, and is durable before what the phase names begins: so whatever the
moment of a crash, the next start knows what may have happened (see `recovery`). Nothing here touches a file.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace


class Phase(StrEnum):
    """The step that a delivery is at; `status.phase`."""

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
    """Why a Delivery is, or is not, ready; the reason of its condition."""

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
    """All of it; of a swap or the way back: one target."""
    FAILED = "failed"
    NOT_RUNNING = "not running"
    """Whoever would be told does not run: it reads the files when it starts."""
    NOT_THERE = "not there"
    """There is nobody of that name to be told, and there will not be: an unknown or masked unit."""
    NOT_ASKED = "not asked"
    """Nobody could be asked: no right to it, or systemd is away. It stays owed."""


class Attempt(Struct, frozen=True, kw_only=True):
    """The moment at which a reload was asked for, as far as it can be found again after a crash."""

    at: float
    """Seconds of the monotonic clock, which counts from the boot."""
    boot: str
    invocation: str = ""
    """What systemd calls this life of the unit."""
    restarts: int = 0
    """How often the unit had restarted by itself."""


class Row(Struct, frozen=True, kw_only=True):
    """What is known of one Delivery. Sets are known by keyed digests."""

    phase: Phase = Phase.SETTLED
    generation: int = 0
    """Number of the live set; 0: nothing has been delivered."""
    live: str = ""
    coming: str = ""
    """The set that is under way."""
    rejected: str = ""
    """The set that failed last: not tried again until something changes."""
    targets: int = 0
    done: int = 0
    """How many targets have been swapped; on the way back, how many have not been swapped back yet."""
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
    """What should be live, and what happened since a set was rejected."""

    set: str
    drifted: bool = False
    """Whether somebody touched what is live."""
    spec_changed: bool = False
    refreshed: bool = False
    """Whether a person asked for it."""


class Impossible(AssertionError):
    """An outcome that the work of a phase cannot have: a bug in whoever reports it."""


def is_wanted(row: Row, wanted: Wanted) -> bool:
    """Whether a new delivery is to begin; never while one is under way."""
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
    """It is the turn of a swapped set: nothing else is done with the unit. `attempt` is about to be made."""
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


def _not_agreed(row: Row, _steps: Steps) -> Row:
    return _settled(row, Reason.CHECK_FAILED, is_live=False, rejected=row.coming)


def _not_checked(row: Row, _steps: Steps) -> Row:
    """Nobody said anything about the set: it is tried again."""
    return _settled(row, Reason.CHECK_FAILED, is_live=False)


def _swapped(row: Row, _steps: Steps) -> Row:
    done = row.done + 1
    return replace(row, done=done, phase=Phase.SWAPPED if done >= row.targets else Phase.SWAPPING)


def _not_swapped(row: Row, _steps: Steps) -> Row:
    """Whoever swapped has taken the targets that were done back."""
    return _settled(row, Reason.SWAP_FAILED, is_live=False)


def _told(row: Row, _steps: Steps) -> Row:
    return replace(row, phase=Phase.VERIFYING)


def _delivered(row: Row, _steps: Steps) -> Row:
    return _settled(row, Reason.DELIVERED, is_live=True)


def _nobody_there(row: Row, _steps: Steps) -> Row:
    return _settled(row, Reason.RELOAD_FAILED, is_live=True)


def _owed(row: Row, _steps: Steps) -> Row:
    return replace(row, phase=Phase.SWAPPED, asked=None, reason=Reason.RELOAD_FAILED)


def _harmed(cause: Reason) -> Callable[[Row, Steps], Row]:
    """The new set is live and does harm: back to the old one, if there is one and it may be used."""

    def follow(row: Row, steps: Steps) -> Row:
        if steps.keep or row.generation == 0:
            return _settled(row, cause, is_live=True)
        return replace(row, phase=Phase.ROLLING_BACK, done=row.targets, asked=None, cause=cause)

    return follow


def _one_back(row: Row, steps: Steps) -> Row:
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
    (Phase.CHECKING, Outcome.FAILED): _not_agreed,
    (Phase.CHECKING, Outcome.NOT_ASKED): _not_checked,
    (Phase.SWAPPING, Outcome.DONE): _swapped,
    (Phase.SWAPPING, Outcome.FAILED): _not_swapped,
    (Phase.RELOADING, Outcome.DONE): _told,
    (Phase.RELOADING, Outcome.FAILED): _harmed(Reason.RELOAD_FAILED),
    (Phase.RELOADING, Outcome.NOT_RUNNING): _delivered,
    (Phase.RELOADING, Outcome.NOT_THERE): _nobody_there,
    (Phase.RELOADING, Outcome.NOT_ASKED): _owed,
    (Phase.VERIFYING, Outcome.DONE): _delivered,
    (Phase.VERIFYING, Outcome.FAILED): _harmed(Reason.UNHEALTHY),
    (Phase.ROLLING_BACK, Outcome.DONE): _one_back,
    (Phase.ROLLING_BACK, Outcome.FAILED): _broken,
    (Phase.RELOADING_OLD, Outcome.DONE): _rolled_back,
    (Phase.RELOADING_OLD, Outcome.NOT_RUNNING): _rolled_back,
    (Phase.RELOADING_OLD, Outcome.NOT_THERE): _rolled_back,
    (Phase.RELOADING_OLD, Outcome.NOT_ASKED): lambda row, _steps: row,
    (Phase.RELOADING_OLD, Outcome.FAILED): _broken,
}
