"""Label selectors as Kubernetes reads them."""

import pytest

from syncret.config.fields import LabelRequirement, LabelSelector
from syncret.daemon.core.selectors import matches
from syncret.providers.errors import Malformed

LABELS = {"env": "prod", "team": "a", "example.com/tier": "1"}


def expression(key: str, operator: str, *values: str) -> LabelSelector:
    return LabelSelector(match_expressions=(LabelRequirement(key=key, operator=operator, values=values),))


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param(LabelSelector(), True, id="empty matches everything"),
        pytest.param(LabelSelector(match_labels={"env": "prod", "team": "a"}), True, id="all labels"),
        pytest.param(LabelSelector(match_labels={"env": "prod", "team": "b"}), False, id="one label differs"),
        pytest.param(expression("env", "In", "dev", "prod"), True, id="in"),
        pytest.param(expression("env", "In", "dev"), False, id="not among them"),
        pytest.param(expression("zone", "In", "x"), False, id="in: absent"),
        pytest.param(expression("env", "NotIn", "dev"), True, id="not in"),
        pytest.param(expression("env", "NotIn", "prod"), False, id="not in: it is"),
        pytest.param(expression("zone", "NotIn", "x"), True, id="not in: absent"),
        pytest.param(expression("example.com/tier", "Exists"), True, id="exists"),
        pytest.param(expression("zone", "Exists"), False, id="exists: absent"),
        pytest.param(expression("zone", "DoesNotExist"), True, id="does not exist"),
        pytest.param(expression("env", "DoesNotExist"), False, id="does not exist: it does"),
    ],
)
def test_matches(selector: LabelSelector, *, expected: bool) -> None:
    assert matches(selector, LABELS) is expected


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        pytest.param(expression("env", "Near", "x"), "not a valid label selector operator", id="operator"),
        pytest.param(expression("env", "In"), "needs values", id="no values"),
        pytest.param(expression("env", "Exists", "x"), "takes no values", id="values"),
        pytest.param(expression("a b", "Exists"), "not a valid label key", id="key"),
        pytest.param(expression("UPPER.com/x", "Exists"), "not a valid label key", id="prefix"),
        pytest.param(LabelSelector(match_labels={"env": "a/b"}), "not a valid label value", id="value"),
    ],
)
def test_refuses_what_kubernetes_refuses(selector: LabelSelector, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        matches(selector, LABELS)
