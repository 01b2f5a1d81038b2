"""The table of crashes: what a start makes of each phase, by what it finds on the host."""

import pytest
from msgspec.structs import replace

from syncret.daemon.core.delivery.phases import Attempt, Phase, Reason, Row, Steps
from syncret.daemon.core.delivery.recovery import Found, Recovered, UnitFacts, adopted, recover

ALL = Steps(check=True, reload=True)
ASKED = Attempt(at=100, boot="b", invocation="i")
LIVE = Row(generation=7, live="old", reason=Reason.DELIVERED)


def at(phase: Phase, *, done: int = 0, asked: Attempt | None = None) -> Row:
    return replace(LIVE, phase=phase, coming="new", targets=3, done=done, asked=asked)


def unit(*, invocation: str = "i", began: float | None = None, succeeded: bool = True) -> UnitFacts:
    return UnitFacts(invocation=invocation, started=50, reload_began=began, reload_succeeded=succeeded)


RELOADING, OLD = at(Phase.RELOADING, done=3, asked=ASKED), at(Phase.RELOADING_OLD, asked=ASKED)


@pytest.mark.parametrize(
    ("row", "found", "expected"),
    [
        pytest.param(LIVE, Found(boot="b"), Recovered(LIVE), id="settled"),
        pytest.param(at(Phase.STAGING), Found(boot="b"), Recovered(LIVE, discard=True), id="staging"),
        pytest.param(at(Phase.CHECKING), Found(boot="b"), Recovered(LIVE, discard=True), id="checking"),
        pytest.param(
            at(Phase.SWAPPING, done=1),
            Found(boot="b", swapped=1),
            Recovered(at(Phase.SWAPPING, done=1)),
            id="swapping: as written",
        ),
        pytest.param(
            at(Phase.SWAPPING, done=1),
            Found(boot="b", swapped=2),
            Recovered(at(Phase.SWAPPING, done=2)),
            id="swapping: one more was done",
        ),
        pytest.param(
            at(Phase.SWAPPING, done=2),
            Found(boot="b", swapped=3),
            Recovered(at(Phase.SWAPPED, done=3)),
            id="swapping: all were done",
        ),
        pytest.param(
            at(Phase.SWAPPING, done=1),
            Found(boot="c", swapped=0, staged=False),
            Recovered(LIVE, discard=True),
            id="swapping: a reboot took what was staged",
        ),
        pytest.param(
            at(Phase.SWAPPED, done=3),
            Found(boot="b"),
            Recovered(at(Phase.SWAPPED, done=3)),
            id="swapped: the reload is owed",
        ),
        pytest.param(
            RELOADING,
            Found(boot="b", unit=unit(began=101)),
            Recovered(replace(RELOADING, phase=Phase.VERIFYING)),
            id="reloading: it happened",
        ),
        pytest.param(
            RELOADING,
            Found(boot="b", unit=unit(began=101, succeeded=False)),
            Recovered(replace(RELOADING, phase=Phase.ROLLING_BACK, asked=None, cause=Reason.RELOAD_FAILED)),
            id="reloading: it happened, and failed",
        ),
        pytest.param(
            RELOADING,
            Found(boot="b", unit=unit(began=99)),
            Recovered(at(Phase.SWAPPED, done=3)),
            id="reloading: the last one was before",
        ),
        pytest.param(
            RELOADING,
            Found(boot="b", unit=unit(invocation="j")),
            Recovered(replace(RELOADING, phase=Phase.VERIFYING)),
            id="reloading: the unit has a new life",
        ),
        pytest.param(
            RELOADING,
            Found(boot="b", unit=unit(), restarts=True),
            Recovered(at(Phase.SWAPPED, done=3)),
            id="restarting: it did not happen",
        ),
        pytest.param(
            RELOADING,
            Found(boot="b", unit=unit()),
            Recovered(at(Phase.SWAPPED, done=3), repeated=True),
            id="reloading: the unit cannot tell",
        ),
        pytest.param(
            RELOADING,
            Found(boot="b"),
            Recovered(at(Phase.SWAPPED, done=3), repeated=True),
            id="a signal cannot tell",
        ),
        pytest.param(
            RELOADING,
            Found(boot="c"),
            Recovered(replace(RELOADING, phase=Phase.VERIFYING)),
            id="reboot: the swap is older",
        ),
        pytest.param(
            RELOADING,
            Found(boot="c", restored_at=40, unit=unit()),
            Recovered(replace(RELOADING, phase=Phase.VERIFYING)),
            id="reboot: the unit started after the files were there",
        ),
        pytest.param(
            RELOADING,
            Found(boot="c", restored_at=60, unit=unit()),
            Recovered(at(Phase.SWAPPED, done=3)),
            id="reboot: the unit started before the files were there",
        ),
        pytest.param(
            at(Phase.VERIFYING, asked=ASKED),
            Found(boot="b"),
            Recovered(at(Phase.VERIFYING, asked=ASKED)),
            id="verifying",
        ),
        pytest.param(
            at(Phase.ROLLING_BACK, done=3),
            Found(boot="b", swapped=2),
            Recovered(at(Phase.ROLLING_BACK, done=2)),
            id="rolling back: one more was done",
        ),
        pytest.param(
            at(Phase.ROLLING_BACK, done=1),
            Found(boot="b", swapped=0),
            Recovered(at(Phase.RELOADING_OLD)),
            id="rolling back: all were done",
        ),
        pytest.param(
            OLD,
            Found(boot="b", unit=unit(began=101)),
            Recovered(replace(LIVE, reason=Reason.ROLLED_BACK, rejected="new")),
            id="reloading the old set: it happened",
        ),
        pytest.param(
            OLD,
            Found(boot="b"),
            Recovered(at(Phase.RELOADING_OLD), repeated=True),
            id="reloading the old set: nobody can tell",
        ),
        pytest.param(at(Phase.BROKEN), Found(boot="b"), Recovered(at(Phase.BROKEN)), id="broken"),
    ],
)
def test_each_edge(row: Row, found: Found, expected: Recovered) -> None:
    assert recover(row, found, ALL) == expected


def test_a_lost_state_takes_over_what_is_right_without_a_reload() -> None:
    assert adopted("set", "set") == Row(generation=1, live="set", reason=Reason.DELIVERED)
    assert adopted("set", "other") == Row()


def test_where_the_boot_is_hidden_the_life_of_the_unit_tells() -> None:
    asked = Attempt(at=10, boot="", invocation="a")
    row = Row(phase=Phase.RELOADING, generation=1, live="1", coming="2", targets=1, done=1, asked=asked)
    again = recover(row, Found(boot="", unit=UnitFacts(invocation="a", started=1)), ALL)
    assert (again.row.phase, again.repeated) == (Phase.SWAPPED, True)
    read = recover(row, Found(boot="", unit=UnitFacts(invocation="b", started=20)), ALL)
    assert read.row.phase is Phase.VERIFYING
