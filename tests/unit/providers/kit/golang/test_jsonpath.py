"""JSONPath against the answers of the Go library that the operator uses (null: an error)."""

import json
from pathlib import Path
from typing import Any

import pytest

from syncret.config.fields import Json
from syncret.config.meta import is_list
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import jsonpath
from syncret.providers.kit.golang.jsonpath.steps import VISITS

TABLE: dict[str, Any] = json.loads((Path(__file__).parent / "jsonpath_answers.json").read_text())
DOCUMENT: Any = gojson.unmarshal(json.dumps(TABLE["document"]))


def unordered(value: Json) -> Json:
    """Members of an object come in any order from Go, and so do lists made of them."""
    return sorted(map(gojson.marshal, value)) if is_list(value) else value


@pytest.mark.parametrize(("path", "expected"), TABLE["answers"])
def test_answers(path: str, expected: dict[str, Any] | None) -> None:
    if expected is None:
        with pytest.raises(Malformed):
            jsonpath.parse(path).get(DOCUMENT)
    else:
        assert unordered(jsonpath.parse(path).get(DOCUMENT)) == unordered(expected["value"])


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("$" + "..*" * 12, id="everything below everything"),
        pytest.param("(" * 1000 + "1" + ")" * 1000, id="nested"),
        pytest.param("$.a" * 5000, id="long"),
        pytest.param("$.x['canary\\q']", id="a bad escape"),
        pytest.param('$.canary["', id="an open string"),
    ],
)
def test_hostile_paths_are_refused_in_time(path: str) -> None:
    document = gojson.unmarshal("[" * 150 + '"canary"' + "]" * 150)
    with pytest.raises(Malformed) as caught:
        jsonpath.parse(path).get(document)

    assert "canary" not in str(caught.value)


def test_work_is_paid_for_once_per_evaluation() -> None:
    path = jsonpath.parse("$..*")
    document = [[0.0] * 1000] * (VISITS // 10_000)
    for _ in range(3):
        path.get(document)
