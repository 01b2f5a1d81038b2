"""The judge finds each violation that is planted in a log, and none in a log that is right."""

import json
from pathlib import Path

import pytest

from syncret.config.meta import Document
from tests.real.replicas import audit
from tests.real.replicas.audit import Write
from tests.real.replicas.judge import Disturbance, Push, judged, terms_of

ONE, TWO = "replica-one", "replica-two"


def write(
    user: str,
    moment: float,
    resource: str = "secrets",
    *,
    verb: str = "update",
    code: int = 200,
    **content: object,
) -> Write:
    sent: Document = {"metadata": {"name": "x"}, **content}
    return Write(user, verb, resource, "work", "x", moment, moment + 0.01, code, sent, {})


def lease(user: str, moment: float, version: int, holder: str | None = None) -> Write:
    holder = f"{user}_0" if holder is None else holder
    left = {"metadata": {"resourceVersion": str(version)}}
    sent = {"spec": {"holderIdentity": holder}}
    return Write(user, "update", "leases", "replicas", "l", moment, moment + 0.01, 200, sent, left)


def term(user: str, begin: float, end: float, version: int) -> list[Write]:
    """Renewals every two seconds."""
    count = int((end - begin) / 2) + 1
    return [lease(user, begin + 2 * each, version + each) for each in range(count)]


HANDED_OVER = [*term(ONE, 0, 6, 1), *term(TWO, 20, 26, 20)]
"""One of them crashed after 6 s, the other took over after 20 s."""


def test_a_log_that_is_right_is_found_so() -> None:
    log = [*HANDED_OVER, write(ONE, 5, data={"a": "1"}), write(TWO, 21, data={"a": "2"})]
    pushes = [Push("k", "1", 1), Push("k", "2", 2)]
    verdict = judged(
        log,
        once={"y": True},
        pushes=pushes,
        disturbances=[Disturbance("kill", ONE, 7.0, must_be_followed=True)],
    )
    assert verdict.violations == []
    assert (verdict.writes, verdict.terms, verdict.late) == (2, 2, 0)
    assert verdict.takeovers == {"kill": [13.0]}


@pytest.mark.parametrize(
    ("late", "expected"),
    [
        pytest.param(write(ONE, 21), "written without the Lease", id="after another took over"),
        pytest.param(write(TWO, 19), "written without the Lease", id="before it took over"),
        pytest.param(write("replica-three", 5), "written without the Lease", id="by who never held it"),
        pytest.param(write(ONE, 17), "s after the last renewal", id="after the fence, before anybody else"),
        pytest.param(
            write(ONE, 19.9)._replace(answered=20.5), "still under way", id="answered after the takeover"
        ),
        pytest.param(
            write(ONE, 21, "externalsecrets/status", verb="patch"), "without the Lease", id="a status"
        ),
        pytest.param(write(ONE, 21, "events", verb="create", code=201), "without the Lease", id="an event"),
    ],
)
def test_a_write_of_who_is_not_active_is_found(late: Write, expected: str) -> None:
    violations = judged([*HANDED_OVER, late]).violations
    assert expected in "\n".join(violations)


STOPPED = Disturbance("stop 14.5", ONE, 6.4)
"""It goes on after the takeover."""


def test_one_write_may_be_half_way_as_its_replica_is_stopped() -> None:
    late = [write(ONE, 20.95, data={"a": "1"}), write(ONE, 20.96, data={"a": "2"})]
    verdict = judged([*HANDED_OVER, late[0]], disturbances=[STOPPED])
    assert (verdict.violations, verdict.half_way) == ([], 1)

    verdict = judged([*HANDED_OVER, *late], disturbances=[STOPPED])
    assert len(verdict.violations) == 1


@pytest.mark.parametrize(
    "late",
    [
        pytest.param(write(ONE, 22.5), id="long after it went on"),
        pytest.param(write("replica-three", 20.95), id="by another one"),
    ],
)
def test_a_stop_explains_no_other_write(late: Write) -> None:
    assert "without the Lease" in judged([*HANDED_OVER, late], disturbances=[STOPPED]).violations[0]


def test_a_late_write_that_was_refused_is_no_violation() -> None:
    verdict = judged([*HANDED_OVER, write(ONE, 21, code=409)])
    assert (verdict.violations, verdict.late) == ([], 1)


def test_who_gave_the_lease_back_writes_no_more() -> None:
    log = [*term(ONE, 0, 4, 1), lease(ONE, 5, 9, holder=""), write(ONE, 5.5)]
    assert "without the Lease" in judged(log).violations[0]


def test_a_term_ends_when_another_begins() -> None:
    first, second = terms_of([*HANDED_OVER, lease(TWO, 27, 40, holder="")])
    assert (first.began, first.ended, first.was_given_back) == (0, 20, False)
    assert (second.began, second.ended, second.was_given_back) == (20, 27, True)


def test_an_equal_write_is_found() -> None:
    same = [write(ONE, 1, verb="create", data={"a": "1"}), write(ONE, 3, data={"a": "1"})]
    assert judged([*HANDED_OVER, *same]).violations == [f"written twice: {same[1]}"]


def test_an_equal_write_after_somebody_elses_is_right() -> None:
    first, last = (write(ONE, moment, data={"a": "1"}) for moment in (1, 5))
    assert judged([*HANDED_OVER, first, write("admin", 3, data={"a": "x"}), last]).violations == []


def test_an_equal_status_is_found() -> None:
    status = {"refreshTime": "2026-01-01T00:00:00Z"}
    log = [write(ONE, moment, "externalsecrets/status", verb="patch", status=status) for moment in (1, 3)]
    assert judged([*HANDED_OVER, *log]).violations == [f"said twice: {log[1]}"]


STATUS = write(ONE, 2, "externalsecrets/status", verb="patch", status={"refreshTime": "x"})


@pytest.mark.parametrize(
    ("tells", "between", "count"),
    [
        pytest.param(True, [], 1, id="which the Secret itself tells"),
        pytest.param(False, [STATUS], 1, id="which was reported"),
        pytest.param(False, [], 0, id="not, of which nobody could know"),
    ],
)
def test_a_second_draw_is_found(tells: bool, between: list[Write], count: int) -> None:  # noqa: FBT001
    log = [write(ONE, 1, data={"password": "x"}), *between, write(TWO, 21, data={"password": "y"})]
    found = judged([*HANDED_OVER, *log], once={"x": tells}).violations
    assert [each.partition(":")[0] for each in found] == ["drawn again"] * count


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param(["1", "1"], "pushed twice", id="twice"),
        pytest.param(["2", "1"], "pushed late", id="an older one after a newer one"),
    ],
)
def test_pushes_that_are_wrong_are_found(values: list[str], expected: str) -> None:
    pushes = [Push("k", value, float(moment)) for moment, value in enumerate(values)]
    (violation,) = judged([], pushes=pushes).violations
    assert violation.startswith(expected)


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        pytest.param(term(ONE, 0, 6, 1), "nobody followed", id="never"),
        pytest.param([*term(ONE, 0, 6, 1), *term(TWO, 23, 30, 20)], "was followed 16.0 s", id="too late"),
        pytest.param(
            [*term(ONE, 0, 6, 1), lease(ONE, 7, 9, holder=""), *term(TWO, 8.5, 12, 20)],
            "was followed 1.5 s",
            id="too late after a graceful end",
        ),
    ],
)
def test_a_late_takeover_is_found(log: list[Write], expected: str) -> None:
    done = Disturbance("kill", ONE, 7.0, must_be_followed=True)
    (violation,) = judged(log, disturbances=[done]).violations
    assert expected in violation


def line(stage: str, code: int = 0) -> str:
    document = {
        "auditID": "1",
        "stage": stage,
        "verb": "update",
        "user": {"username": ONE},
        "objectRef": {"resource": "externalsecrets", "subresource": "status", "namespace": "n", "name": "x"},
        "requestReceivedTimestamp": "2026-01-01T00:00:00.250000Z",
        "stageTimestamp": "2026-01-01T00:00:00.500000Z",
        **({"responseStatus": {"code": code}, "requestObject": {"a": 1}} if code else {}),
    }
    return json.dumps(document) + "\n"


def test_the_log_is_read_also_where_its_server_was_killed(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_text(line("RequestReceived"))
    (unknown,) = audit.writes(log)
    assert (unknown.code, unknown.is_done, unknown.is_of_replica) == (0, False, True)
    log.write_text(
        line("RequestReceived")
        + '{"kind":'
        + line("ResponseComplete", 409)
        + line("ResponseComplete", 200)[:-9]
    )
    assert [each.code for each in audit.writes(log)] == [0]
    log.write_text(line("RequestReceived") + line("ResponseComplete", 200))
    (done,) = audit.writes(log)
    assert (done.code, done.resource, done.sent) == (200, "externalsecrets/status", {"a": 1})
    assert done.answered - done.received == pytest.approx(0.25)
