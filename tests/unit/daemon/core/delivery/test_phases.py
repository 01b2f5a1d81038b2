"""The phases of a delivery, row by row: what follows from each outcome, and when a new one begins."""

import pytest
from msgspec.structs import replace

from syncret.daemon.core.delivery.phases import (
    Attempt,
    Impossible,
    Outcome,
    Phase,
    Reason,
    Row,
    Steps,
    Wanted,
    advance,
    begin,
    is_wanted,
    turn,
)

ALL = Steps(check=True, reload=True)
NOTHING = Steps()
KEEP = Steps(check=True, reload=True, keep=True)
ASKED = Attempt(at=100, boot="b", invocation="i")
LIVE = Row(generation=7, live="old", reason=Reason.DELIVERED)


def at(phase: Phase, *, first: bool = False, done: int = 0) -> Row:
    return Row(
        phase=phase,
        generation=0 if first else 7,
        live="" if first else "old",
        coming="new",
        targets=2,
        done=done,
    )


DELIVERED = Row(generation=8, live="new", reason=Reason.DELIVERED)


@pytest.mark.parametrize(
    ("row", "outcome", "steps", "expected"),
    [
        pytest.param(at(Phase.STAGING), Outcome.DONE, ALL, at(Phase.CHECKING), id="staged"),
        pytest.param(at(Phase.STAGING), Outcome.DONE, NOTHING, at(Phase.SWAPPING), id="staged, no check"),
        pytest.param(
            at(Phase.STAGING), Outcome.FAILED, ALL, replace(LIVE, reason=Reason.STAGE_FAILED), id="no space"
        ),
        pytest.param(at(Phase.CHECKING), Outcome.DONE, ALL, at(Phase.SWAPPING), id="checked"),
        pytest.param(
            at(Phase.CHECKING),
            Outcome.FAILED,
            ALL,
            replace(LIVE, reason=Reason.CHECK_FAILED, rejected="new"),
            id="a bad pair is rejected",
        ),
        pytest.param(
            at(Phase.CHECKING),
            Outcome.NOT_ASKED,
            ALL,
            replace(LIVE, reason=Reason.CHECK_FAILED),
            id="a check that could not be asked for says nothing about the set",
        ),
        pytest.param(
            at(Phase.SWAPPING), Outcome.DONE, ALL, at(Phase.SWAPPING, done=1), id="first target swapped"
        ),
        pytest.param(
            at(Phase.SWAPPING, done=1), Outcome.DONE, ALL, at(Phase.SWAPPED, done=2), id="last target swapped"
        ),
        pytest.param(
            at(Phase.SWAPPING, done=1),
            Outcome.FAILED,
            ALL,
            replace(LIVE, reason=Reason.SWAP_FAILED),
            id="a swap that fails",
        ),
        pytest.param(at(Phase.RELOADING), Outcome.DONE, ALL, at(Phase.VERIFYING), id="reloaded"),
        pytest.param(at(Phase.RELOADING), Outcome.NOT_RUNNING, ALL, DELIVERED, id="the unit does not run"),
        pytest.param(
            at(Phase.RELOADING),
            Outcome.NOT_THERE,
            ALL,
            replace(DELIVERED, reason=Reason.RELOAD_FAILED),
            id="an unknown unit: nothing was told, so nothing goes back",
        ),
        pytest.param(
            at(Phase.RELOADING),
            Outcome.NOT_ASKED,
            ALL,
            replace(at(Phase.SWAPPED), reason=Reason.RELOAD_FAILED),
            id="not allowed: the reload stays owed",
        ),
        pytest.param(
            at(Phase.RELOADING, done=2),
            Outcome.FAILED,
            ALL,
            replace(at(Phase.ROLLING_BACK, done=2), cause=Reason.RELOAD_FAILED),
            id="a reload that fails",
        ),
        pytest.param(
            at(Phase.RELOADING),
            Outcome.FAILED,
            KEEP,
            replace(DELIVERED, reason=Reason.RELOAD_FAILED),
            id="a reload that fails, and the set is kept",
        ),
        pytest.param(
            at(Phase.RELOADING, first=True),
            Outcome.FAILED,
            ALL,
            Row(generation=1, live="new", reason=Reason.RELOAD_FAILED),
            id="the first set has none before it",
        ),
        pytest.param(at(Phase.VERIFYING), Outcome.DONE, ALL, DELIVERED, id="healthy"),
        pytest.param(
            at(Phase.VERIFYING),
            Outcome.FAILED,
            ALL,
            replace(at(Phase.ROLLING_BACK, done=2), cause=Reason.UNHEALTHY),
            id="unhealthy",
        ),
        pytest.param(
            at(Phase.VERIFYING),
            Outcome.FAILED,
            KEEP,
            replace(DELIVERED, reason=Reason.UNHEALTHY),
            id="unhealthy, and kept",
        ),
        pytest.param(
            at(Phase.ROLLING_BACK, done=2), Outcome.DONE, ALL, at(Phase.ROLLING_BACK, done=1), id="one back"
        ),
        pytest.param(
            at(Phase.ROLLING_BACK, done=1), Outcome.DONE, ALL, at(Phase.RELOADING_OLD), id="all back"
        ),
        pytest.param(
            at(Phase.ROLLING_BACK, done=1),
            Outcome.DONE,
            NOTHING,
            replace(LIVE, reason=Reason.ROLLED_BACK, rejected="new"),
            id="all back, nobody to tell",
        ),
        pytest.param(
            at(Phase.RELOADING_OLD),
            Outcome.DONE,
            ALL,
            replace(LIVE, reason=Reason.ROLLED_BACK, rejected="new"),
            id="rolled back",
        ),
        pytest.param(
            at(Phase.RELOADING_OLD),
            Outcome.FAILED,
            ALL,
            replace(at(Phase.BROKEN), rejected="new", reason=Reason.BROKEN),
            id="the old set does not work either",
        ),
        pytest.param(
            at(Phase.RELOADING_OLD), Outcome.NOT_ASKED, ALL, at(Phase.RELOADING_OLD), id="asked again later"
        ),
    ],
)
def test_what_follows(row: Row, outcome: Outcome, steps: Steps, expected: Row) -> None:
    assert advance(row, outcome, steps) == expected


@pytest.mark.parametrize("phase", [Phase.SETTLED, Phase.BROKEN, Phase.SWAPPED])
@pytest.mark.parametrize("outcome", Outcome)
def test_a_phase_without_work_has_no_outcome(phase: Phase, outcome: Outcome) -> None:
    with pytest.raises(Impossible):
        advance(at(phase), outcome, ALL)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [pytest.param(ALL, Phase.RELOADING, id="reload"), pytest.param(NOTHING, Phase.VERIFYING, id="none")],
)
def test_a_swapped_set_waits_for_its_turn(steps: Steps, expected: Phase) -> None:
    row = turn(at(Phase.SWAPPED, done=2), ASKED, steps)
    assert (row.phase, row.asked) == (expected, ASKED)
    with pytest.raises(Impossible):
        turn(row, ASKED, steps)


@pytest.mark.parametrize(
    ("row", "wanted", "expected"),
    [
        pytest.param(Row(), Wanted(set="new"), True, id="first"),
        pytest.param(LIVE, Wanted(set="old"), False, id="unchanged"),
        pytest.param(LIVE, Wanted(set="old", refreshed=True), False, id="refreshed, and unchanged"),
        pytest.param(LIVE, Wanted(set="old", drifted=True), True, id="drift"),
        pytest.param(LIVE, Wanted(set="old", spec_changed=True), True, id="the spec changed"),
        pytest.param(LIVE, Wanted(set="new"), True, id="changed"),
        pytest.param(replace(LIVE, rejected="new"), Wanted(set="new"), False, id="rejected"),
        pytest.param(replace(LIVE, rejected="new"), Wanted(set="new", refreshed=True), True, id="asked for"),
        pytest.param(
            replace(LIVE, rejected="new"), Wanted(set="new", spec_changed=True), True, id="another spec"
        ),
        pytest.param(replace(LIVE, rejected="new"), Wanted(set="newer"), True, id="a newer set"),
        pytest.param(
            replace(at(Phase.BROKEN), rejected="new"), Wanted(set="new", drifted=True), False, id="broken"
        ),
        pytest.param(
            replace(at(Phase.BROKEN), rejected="new"), Wanted(set="old"), True, id="broken, changed"
        ),
        pytest.param(
            replace(at(Phase.BROKEN), rejected="new"),
            Wanted(set="new", refreshed=True),
            True,
            id="broken, asked for",
        ),
        *(
            pytest.param(at(phase), Wanted(set="newest", refreshed=True), False, id=f"{phase}")
            for phase in Phase
            if phase not in (Phase.SETTLED, Phase.BROKEN)
        ),
    ],
)
def test_when_a_delivery_begins(row: Row, wanted: Wanted, *, expected: bool) -> None:
    assert is_wanted(row, wanted) is expected


def test_whatever_happens_a_delivery_comes_to_an_end_that_says_which_set_is_live() -> None:
    """Every way through the phases, with two targets: it settles or is broken, and files and row agree."""
    for steps in (ALL, NOTHING, KEEP, Steps(reload=True), Steps(check=True)):
        for start in (Row(), LIVE):
            ends = set[Phase]()
            todo = [(begin(start, Wanted(set="new"), 2), ["", ""] if start is not LIVE else ["old", "old"])]
            while todo:
                row, files = todo.pop()
                if row.phase in (Phase.SETTLED, Phase.BROKEN):
                    ends.add(row.phase)
                    assert files == [row.live, row.live]
                    continue
                if row.phase is Phase.SWAPPED:
                    todo.append((turn(row, ASKED, steps), files))
                    continue
                for outcome in (Outcome.DONE, Outcome.FAILED, Outcome.NOT_RUNNING):
                    try:
                        following = advance(row, outcome, steps)
                    except Impossible:
                        continue
                    todo.append((following, _files(row, following, files)))
            assert Phase.SETTLED in ends


def _files(row: Row, following: Row, files: list[str]) -> list[str]:
    """What the files are after the work of a phase."""
    after = list(files)
    if row.phase is Phase.SWAPPING and following.phase in (Phase.SWAPPING, Phase.SWAPPED):
        after[row.done] = "new"
    elif row.phase is Phase.SWAPPING:
        after = [row.live] * 2
    elif row.phase is Phase.ROLLING_BACK and following.phase is not Phase.BROKEN:
        after[row.done - 1] = row.live
    elif row.phase is Phase.ROLLING_BACK:
        after = [row.live] * 2  # told apart by the row alone: people have to look
    return after
