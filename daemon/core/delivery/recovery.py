"""Continues the delivery that an earlier run left: no reload is lost, and none is repeated without an event.

A swap that was begun is completed, because the set had passed its check; a rollback that was begun is
completed, too.
"""

from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from syncret.daemon.core.delivery.phases import Attempt, Outcome, Phase, Reason, Row, Steps, advance

_BEFORE_THE_SWAP: Final = (Phase.STAGING, Phase.CHECKING)
_RELOAD_REQUESTED: Final = (Phase.RELOADING, Phase.RELOADING_OLD)


class UnitFacts(Struct, frozen=True, kw_only=True):
    """The state of the unit that was to be reloaded. Times are of the monotonic clock."""

    invocation: str
    started: float
    reload_began: float | None = None
    """When its last ExecReload= began; None if there was none, or it is not known (Type=notify-reload)."""
    reload_succeeded: bool = True
    runs: bool = True
    """Whether it runs; after a failed restart it does not."""


class Found(Struct, frozen=True, kw_only=True):
    """The state of the host at the start."""

    boot: str
    """The ID of this boot; empty if it is hidden: then the InvocationID of the unit has to do."""
    swapped: int = 0
    """How many targets hold the new set, by their inodes."""
    staged: bool = True
    """Whether what was staged for the other targets still exists: a reboot empties /run."""
    restored_at: float | None = None
    """When files that a reboot removed were written again; None if it removed none."""
    unit: UnitFacts | None = None
    """None if the reload was not of a unit, or systemd does not answer."""
    restarts: bool = False
    """Whether a restart was requested instead of a reload."""


class Recovered(NamedTuple):
    """The row to continue with."""

    row: Row
    discard: bool = False
    """Whether what is staged has to be removed."""
    repeated: bool = False
    """Whether a reload is requested that may have happened, which is reported by an event."""


def recover(row: Row, found: Found, steps: Steps) -> Recovered:
    """The row to continue with after a start."""
    if row.phase in _BEFORE_THE_SWAP:
        return Recovered(_given_up(row), discard=True)
    if row.phase is Phase.SWAPPING:
        return _swap_forward(row, found)
    if row.phase is Phase.ROLLING_BACK:
        return Recovered(_back(row, found, steps))
    if row.phase in _RELOAD_REQUESTED:
        if row.asked is None:  # a reload after a rollback records no attempt
            return Recovered(row, repeated=True)
        return _asked(row, row.asked, found, steps)
    return Recovered(row)


def adopted(wanted: str, live: str) -> Row:
    """The row of a Delivery without state: what is live is adopted if it is what is wanted."""
    return Row(generation=1, live=wanted, reason=Reason.DELIVERED) if wanted == live else Row()


def _given_up(row: Row) -> Row:
    return Row(generation=row.generation, live=row.live, rejected=row.rejected, reason=row.reason)


def _swap_forward(row: Row, found: Found) -> Recovered:
    if found.swapped >= row.targets:
        return Recovered(replace(row, phase=Phase.SWAPPED, done=row.targets))
    if not found.staged:  # no target holds an old set any more: begin again
        return Recovered(_given_up(row), discard=True)
    return Recovered(replace(row, done=found.swapped))


def _back(row: Row, found: Found, steps: Steps) -> Row:
    """The rollback, from where it was interrupted."""
    if found.swapped > 0:
        return replace(row, done=found.swapped)
    return advance(replace(row, done=1), Outcome.DONE, steps)


def _asked(row: Row, attempt: Attempt, found: Found, steps: Steps) -> Recovered:
    if attempt.boot and found.boot and attempt.boot != found.boot:
        return _rebooted(row, found, steps)
    happened = _happened(attempt, found)
    if happened is None:
        return Recovered(_ask_again(row), repeated=True)
    if happened is Outcome.NOT_ASKED:
        return Recovered(_ask_again(row))
    return Recovered(advance(row, happened, steps))


def _rebooted(row: Row, found: Found, steps: Steps) -> Recovered:
    """After a reboot: a unit that started after the files were written has read them."""
    unit = found.unit
    if found.restored_at is None or (unit is not None and unit.started > found.restored_at):
        return Recovered(advance(row, Outcome.DONE, steps))
    return Recovered(_ask_again(row))


def _happened(attempt: Attempt, found: Found) -> Outcome | None:
    """How the request ended; NOT_ASKED if it never reached systemd, None if that is not known."""
    unit = found.unit
    if unit is None:
        return None
    if unit.invocation != attempt.invocation:  # it was started since, and read the new files
        return Outcome.DONE if unit.runs else Outcome.FAILED
    if found.restarts:
        return Outcome.NOT_ASKED
    if unit.reload_began is None:
        return None
    if unit.reload_began <= attempt.at:
        return Outcome.NOT_ASKED
    return Outcome.DONE if unit.reload_succeeded else Outcome.FAILED


def _ask_again(row: Row) -> Row:
    """Request the reload again: of the new set in its next turn, after a rollback at once."""
    return replace(row, asked=None, phase=Phase.SWAPPED if row.phase is Phase.RELOADING else row.phase)
