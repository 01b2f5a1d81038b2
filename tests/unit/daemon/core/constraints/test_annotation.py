"""The annotation with constraints, and its verdict on fetched values."""

import json

import pytest

from syncret.config.fields import Json
from syncret.daemon.core.constraints.annotation import verdict_on
from syncret.daemon.core.constraints.verdict import Verdict
from syncret.providers.errors import OverBudget
from syncret.providers.work import Work

CANARY = "canary-1f9"


def verdict(keys: Json, policy: str = "block", **values: str) -> Verdict:
    return verdict_on(
        json.dumps({"keys": keys, "policy": policy}), {k: v.encode() for k, v in values.items()}, Work()
    )


def test_all_must_hold() -> None:
    keys = {"a": [{"minRunes": 3}, {"pattern": "^x"}], "b": [{"oneOf": ["y"]}]}
    assert verdict(keys, a="xxx", b="y").reason == "Satisfied"
    assert verdict(keys, a="xx", b="n") == Verdict(
        "Violated", "violated: a: minRunes, b: oneOf", is_blocked=True
    )
    assert verdict(keys, "warn", a="xx", b="y") == Verdict("Violated", "violated: a: minRunes")


def test_a_missing_key_is_no_violation_but_others_may_be() -> None:
    keys = {"a": [{"minRunes": 3}], "b": [{"minRunes": 3}]}
    assert verdict(keys, a="xxx") == Verdict("NotFetched", "not among the fetched keys: b")
    assert verdict(keys, a="x").reason == "Violated"


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        pytest.param("", "it is not JSON", id="empty"),
        pytest.param("{canary-1f9", "it is not JSON", id="no JSON"),
        pytest.param("[" * 100_000, "it is not JSON", id="deep"),
        pytest.param("[]", "it must be", id="a list"),
        pytest.param('{"policy": "block"}', "it must be", id="no keys"),
        pytest.param('{"keys": {}, "canary-1f9": 1}', "members other than", id="unknown member"),
        pytest.param('{"keys": {}, "policy": "canary-1f9"}', "policy must be", id="policy"),
        pytest.param('{"keys": {"a": "strong"}}', "a must be a list", id="a name alone"),
        pytest.param('{"keys": {"a": ["canary"]}}', "a: there is no constraint named", id="a name"),
        pytest.param('{"keys": {"a": [{"minRunes": "x"}]}}', "a: minRunes takes", id="malformed"),
        pytest.param('{"keys": {"a": [{"pattern": "("}]}}', "a: pattern does not compile", id="pattern"),
    ],
)
def test_one_that_cannot_be_read_counts_as_violated(annotation: str, said: str) -> None:
    found = verdict_on(annotation, {"a": b"canary-1f9"}, Work())
    assert (found.reason, found.is_blocked) == ("Violated", True)
    assert said in found.message
    assert CANARY not in found.message


def test_more_work_than_allowed_is_no_verdict() -> None:
    annotation = json.dumps({"keys": {"a": [{"pattern": "x"}]}})
    with pytest.raises(OverBudget):
        verdict_on(annotation, {"a": b"x" * 1_000_000}, Work(seconds=0.01))
