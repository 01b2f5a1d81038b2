"""What the operator's two objects say after a run."""

from typing import Any

import pytest

from syncret.config.meta import Document
from syncret.daemon.operator.contests import PAUSE, WINDOW, Contests
from syncret.daemon.operator.reconciler import INSTALLED, installed
from syncret.daemon.operator.status import ANNOTATED, MIRRORED, Report, State, mirrored, status_of, waiting
from tests.suites.homes.objects import ref

CONFIG: Document = {"metadata": {"name": "cluster", "generation": 3}}
FIRST, LATER = "1970-01-01T00:00:10Z", "1970-01-01T00:00:20Z"


def short(status: Document) -> dict[str, str]:
    shown = ("status", "reason", "message")
    return {each["type"]: " ".join(each[name] for name in shown) for each in status["conditions"]}


@pytest.mark.parametrize(
    ("state", "message", "degraded", "ready"),
    [
        ("ready", "", "False Ready ", "True Ready "),
        ("progressing", "waits", "False Ready ", "False Progressing waits"),
        ("failed", "no", "True Failed no", "False Failed no"),
    ],
)
def test_each_outcome_has_its_conditions(state: State, message: str, degraded: str, ready: str) -> None:
    status = status_of(CONFIG, Report(state=state, message=message, image="i:1"), 10.0)
    assert short(status) == {"Degraded": degraded, "Ready": ready, "Accepted": "True Accepted "}
    assert {each["observedGeneration"] for each in status["conditions"]} == {3}
    assert status["externalSecretsImage"] == "i:1"
    assert "bitwardenSDKServerImage" not in status


def test_a_time_moves_with_its_status_alone() -> None:
    before = status_of(CONFIG, Report(state="progressing", message="a"), 10.0)
    after = status_of({**CONFIG, "status": before}, Report(state="progressing", message="b"), 20.0)
    assert {each["lastTransitionTime"] for each in after["conditions"]} == {FIRST}
    ready = status_of({**CONFIG, "status": after}, Report(state="ready"), 20.0)
    assert {each["type"]: each["lastTransitionTime"] for each in ready["conditions"]} == {
        "Degraded": FIRST,
        "Ready": LATER,
        "Accepted": FIRST,
    }


def test_what_has_no_effect_is_named() -> None:
    status = status_of(CONFIG, Report(state="ready", ignored=("label app: no", "feature x: no")), 10.0)
    assert short(status)["Accepted"] == "False PartlyIgnored label app: no; feature x: no"


def test_the_annotation_of_crds_has_a_condition_while_it_is_wanted() -> None:
    """A run that did not get so far leaves what the last one said."""

    def then(before: Document, at: float, **report: Any) -> Document:  # noqa: ANN401  # as Report has it
        return status_of({**CONFIG, "status": before}, Report(state="ready", **report), at)

    assert ANNOTATED not in short(then({}, 10.0, not_annotated=""))
    assert ANNOTATED not in short(then({}, 10.0, injects=True))
    done = then({}, 10.0, injects=True, not_annotated="")
    assert short(done)[ANNOTATED] == "True Completed "
    assert done["conditions"][-1] == then(done, 20.0, injects=True)["conditions"][-1]
    failed = then(done, 20.0, injects=True, not_annotated="denied")
    assert short(failed)[ANNOTATED] == "False Failed denied"
    assert failed["conditions"][-1]["lastTransitionTime"] == LATER
    assert ANNOTATED not in short(then(failed, 30.0, not_annotated=""))


def test_a_deployment_is_waited_for_until_its_newest_version_is_available() -> None:
    status = {"observedGeneration": 2, "updatedReplicas": 3, "availableReplicas": 3}
    live: Document = {"metadata": {"generation": 2}, "spec": {"replicas": 3}, "status": status}
    assert waiting([("a", live)]) == ""
    assert "not there yet" in waiting([("a", None)])
    for name, value in (("observedGeneration", 1), ("updatedReplicas", 2), ("availableReplicas", 2)):
        assert waiting([("a", {**live, "status": {**status, name: value}})])
    none = {**live, "spec": {"replicas": 0}, "status": {"observedGeneration": 2}}
    assert waiting([("a", none)]) == "waits for Deployment a: 0 of 1 available"


def test_the_manager_mirrors_every_condition_and_forgets_those_that_are_gone() -> None:
    config = {**CONFIG, "status": status_of(CONFIG, Report(state="progressing", message="a"), 10.0)}
    first = mirrored({}, config, 0, 10.0)
    (entry,) = first["controllerStatuses"]
    assert entry["name"] == MIRRORED
    assert {each["type"]: each["message"] for each in entry["conditions"]} == {
        "Degraded": "",
        "Ready": "a",
        "Accepted": "",
    }
    assert first["lastTransitionTime"] == FIRST
    changed = {**CONFIG, "status": status_of(config, Report(state="progressing", message="b"), 20.0)}
    assert mirrored({"status": first}, changed, 0, 20.0)["lastTransitionTime"] == FIRST
    gone = mirrored({"status": first}, None, 7, 20.0)
    assert gone["lastTransitionTime"] == LATER
    assert [each["type"] for each in gone["controllerStatuses"][0]["conditions"]] == ["Ready"]
    assert "7 objects" in gone["controllerStatuses"][0]["conditions"][0]["message"]


def test_repairs_against_one_writer_become_a_contest() -> None:
    contests, one, now = Contests(2), ref(), 1000.0
    assert not contests.repaired(one, "rival", now)
    assert not contests.repaired(one, "other", now)
    assert not contests.repaired(one, "rival", now + 1)
    assert not contests.repaired(one, "rival", now + 1 + WINDOW)  # the first two no longer count
    assert not contests.repaired(one, "rival", now + 2 + WINDOW)
    assert contests.repaired(one, "rival", now + 3 + WINDOW)
    assert contests.waits(one, now + 3 + WINDOW) == PAUSE
    assert contests.waits(one, now + 3 + WINDOW + PAUSE) == 0.0


@pytest.mark.parametrize("text", ["", "no", "[]", '{"namespace": 1}'])
def test_an_annotation_that_cannot_be_read_says_nothing(text: str) -> None:
    assert installed({"metadata": {"annotations": {INSTALLED: text}}}) is None


def test_the_annotation_says_what_cannot_change() -> None:
    text = '{"namespace": "n", "certManager": true}'
    assert installed({"metadata": {"annotations": {INSTALLED: text}}}) == ("n", True)
