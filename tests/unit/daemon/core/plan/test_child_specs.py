"""A child that another operator wrote is as it should be, although Go writes some fields otherwise."""

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.config.resources.kinds import EXTERNAL_SECRET, PUSH_SECRET
from syncret.daemon.core.plan.child_specs import says_the_same

DATA: Json = [{"secretKey": "a", "remoteRef": {"key": "k"}}]
PUSH: Document = {
    "secretStoreRefs": [{"name": "s"}],
    "selector": {"secret": {"name": "x"}},
    "data": [{"match": {"secretKey": "a", "remoteRef": {"remoteKey": "k"}}}],
}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param({"refreshInterval": "1h"}, {"refreshInterval": "1h0m0s"}, True, id="a duration"),
        pytest.param({"refreshInterval": "1h"}, {"refreshInterval": "2h"}, False, id="another duration"),
        pytest.param({"data": DATA, "dataFrom": []}, {"data": DATA}, True, id="an empty list"),
        pytest.param({"target": {"immutable": False}}, {"target": {}}, True, id="an empty field"),
        pytest.param({"target": {"name": "x"}}, {"target": {}}, False, id="another field"),
        pytest.param(
            {"target": {"template": {"data": {"duration": "1h"}}}},
            {"target": {"template": {"data": {"duration": "60m"}}}},
            False,
            id="no duration",
        ),
        pytest.param(
            {"syncWindows": {"kind": "allow", "windows": [{"schedule": "0 2 * * *", "duration": "2h"}]}},
            {"syncWindows": {"kind": "allow", "windows": [{"schedule": "0 2 * * *", "duration": "2h0m0s"}]}},
            True,
            id="a window",
        ),
        pytest.param({"refreshInterval": "soon"}, {"refreshInterval": "later"}, False, id="malformed"),
        pytest.param({"data": 1}, {"data": 2}, False, id="not a spec"),
        pytest.param(None, {"data": DATA}, False, id="none yet"),
    ],
)
def test_specs_of_external_secrets(one: Json, other: Json, same: bool) -> None:  # noqa: FBT001  # a table
    assert says_the_same(EXTERNAL_SECRET, one, other) is same


def test_specs_of_push_secrets() -> None:
    theirs = {**PUSH, "refreshInterval": "30m0s", "updatePolicy": "Replace", "deletionPolicy": "None"}
    assert says_the_same(PUSH_SECRET, {**PUSH, "refreshInterval": "30m"}, theirs)
    assert not says_the_same(PUSH_SECRET, {**PUSH, "deletionPolicy": "Delete"}, theirs)
