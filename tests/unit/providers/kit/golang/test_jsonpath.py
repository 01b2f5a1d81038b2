"""JSONPath against the answers of the Go library that the operator uses (null: an error)."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from syncret.config.fields import Json
from syncret.config.meta import is_list
from syncret.providers.errors import Malformed, OverBudget
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import jsonpath
from syncret.providers.work import Work

TABLE: dict[str, Any] = json.loads((Path(__file__).parent / "jsonpath_answers.json").read_text())
DOCUMENT: Any = gojson.unmarshal(json.dumps(TABLE["document"]), Work())


def unordered(value: Json) -> Json:
    """Members of an object come in any order from Go, and so do lists made of them."""
    return sorted(gojson.marshal(each, Work()) for each in value) if is_list(value) else value


@pytest.mark.parametrize(("path", "expected"), TABLE["answers"])
def test_answers(path: str, expected: dict[str, Any] | None) -> None:
    if expected is None:
        with pytest.raises(Malformed):
            jsonpath.parse(path, Work()).get(DOCUMENT, Work())
    else:
        assert unordered(jsonpath.parse(path, Work()).get(DOCUMENT, Work())) == unordered(expected["value"])


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("$" + "..*" * 12, id="everything below everything"),
        pytest.param("(" * 1000 + "1" + ")" * 1000, id="nested"),
        pytest.param("-" * 9000 + "1", id="negated"),
        pytest.param("$.a" * 5000, id="long"),
        pytest.param("$.x['canary\\q']", id="a bad escape"),
        pytest.param('$.canary["', id="an open string"),
    ],
)
def test_hostile_paths_are_refused_in_time(path: str) -> None:
    document = gojson.unmarshal("[" * 150 + '"canary"' + "]" * 150, Work())
    with pytest.raises((Malformed, OverBudget)) as caught:
        jsonpath.parse(path, Work()).get(document, Work())

    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("$" + "[" + ",".join(["0"] * 100) + "]" * 1, id="a list of keys"),
        pytest.param("$[*][*]", id="wildcards"),
        pytest.param("$..*", id="descendants"),
        pytest.param("$[0:1000]", id="a range"),
        pytest.param("$[?(@ == 1)]", id="a filter"),
        pytest.param("$[?($ == $)]", id="comparing all of it with itself"),
        pytest.param('$["' + "a" * 300 + '"]', id="a long path"),
    ],
)
def test_every_value_that_is_looked_at_is_paid_for(path: str) -> None:
    document: Json = [[1.0] * 10] * 100
    work = Work()
    before = work.steps
    with suppress(Malformed):
        jsonpath.parse(path, work).get(document, work)
    used = before - work.steps
    assert used >= 300
    short = Work()
    short.steps = used - 1
    with pytest.raises(OverBudget):
        jsonpath.parse(path, short).get(document, short)


def test_a_number_that_go_cannot_read() -> None:
    with pytest.raises(Malformed, match="cannot be read from column 405"):
        jsonpath.parse(f"$[0,{'1' * 400}]", Work())
