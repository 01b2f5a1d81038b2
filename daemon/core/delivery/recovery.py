"""What a start makes of the row that an earlier run left: no reload is lost, none is repeated in silence.

A swap that was begun is rolled forward, because the set had passed its check; a way back that was begun is
gone to its end.
"""

from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from syncret.daemon.core.delivery.phases import Attempt, Outcome, Phase, Reason, Row, Steps, advance

_BEFORE_THE_SWAP: Final = (Phase.STAGING, Phase.CHECKING)
_AFTER_A_REQUEST: Final = (Phase.RELOADING, Phase.RELOADING_OLD)


class UnitFacts(Struct, frozen=True, kw_only=True):
    """What systemd tells about the unit that was to be reloaded. Times are of the monotonic clock."""

    invocation: str
    started: float
    reload_began: float | None = None
    """When its last ExecReload= began; None: there was none, or it cannot tell (Type=notify-reload)."""
    reload_succeeded: bool = True
    runs: bool = True
    """Whether it runs: a restart that failed leaves it dead."""


class Found(Struct, frozen=True, kw_only=True):
    """What a start finds on the host."""

    boot: str
    """Empty if that is hidden: then only the life of the unit tells what happened."""
    swapped: int = 0
    """How many targets hold the set that was coming, which their inodes tell."""
    staged: bool = True
    """Whether what is staged for the other targets is still there: a reboot empties /run."""
    restored_at: float | None = None
    """When files that a reboot had taken were written again, in this boot; None: nothing was taken."""
    unit: UnitFacts | None = None
    """None: it is no unit that was asked, or systemd does not answer."""
    restarts: bool = False
    """Whether a restart was asked for, and no reload."""


class Recovered(NamedTuple):
    """The row to go on with."""

    row: Row
    discard: bool = False
    """Whether what is staged has to be removed."""
    repeated: bool = False
    """Whether a reload is asked for that may have happened: tell it."""


def recover(row: Row, found: Found, steps: Steps) -> Recovered:
    """The row to go on with after a start."""
    if row.phase in _BEFORE_THE_SWAP:
        return Recovered(_given_up(row), discard=True)
    if row.phase is Phase.SWAPPING:
        return _swap_forward(row, found)
    if row.phase is Phase.ROLLING_BACK:
        return Recovered(_back(row, found, steps))
    if row.phase in _AFTER_A_REQUEST:
        if row.asked is None:  # of the old set it is asked in the phase itself
            return Recovered(row, repeated=True)
        return _asked(row, row.asked, found, steps)
    return Recovered(row)


def adopted(wanted: str, live: str) -> Row:
    """The row of a Delivery whose state is lost: what is live is taken over if it is what is wanted."""
    return Row(generation=1, live=wanted, reason=Reason.DELIVERED) if wanted == live else Row()


def _given_up(row: Row) -> Row:
    return Row(generation=row.generation, live=row.live, rejected=row.rejected, reason=row.reason)


def _swap_forward(row: Row, found: Found) -> Recovered:
    if found.swapped >= row.targets:
        return Recovered(replace(row, phase=Phase.SWAPPED, done=row.targets))
    if not found.staged:  # both sets are gone, so nothing is mixed: begin again
        return Recovered(_given_up(row), discard=True)
    return Recovered(replace(row, done=found.swapped))


def _back(row: Row, found: Found, steps: Steps) -> Row:
    """The way back, from where it was interrupted."""
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
    """A unit that started after the files were there has read them."""
    unit = found.unit
    if found.restored_at is None or (unit is not None and unit.started > found.restored_at):
        return Recovered(advance(row, Outcome.DONE, steps))
    return Recovered(_ask_again(row))


def _happened(attempt: Attempt, found: Found) -> Outcome | None:
    """How the request ended; NOT_ASKED if it never reached systemd, None if that cannot be told."""
    unit = found.unit
    if unit is None:
        return None
    if unit.invocation != attempt.invocation:  # a new life has read the new files
        return Outcome.DONE if unit.runs else Outcome.FAILED
    if found.restarts:
        return Outcome.NOT_ASKED
    if unit.reload_began is None:
        return None
    if unit.reload_began <= attempt.at:
        return Outcome.NOT_ASKED
    return Outcome.DONE if unit.reload_succeeded else Outcome.FAILED


def _ask_again(row: Row) -> Row:
    """A reload of the new set waits for its turn again; that of the old one is asked for at once."""
    return replace(row, asked=None, phase=Phase.SWAPPED if row.phase is Phase.RELOADING else row.phase)
