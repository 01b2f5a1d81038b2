"""Places inside an object: what a path means, and what is made on the way there."""

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.daemon.core.rendering import parse_path, put
from syncret.providers.errors import Malformed


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        pytest.param("spec", ["spec"], id="a key"),
        pytest.param("spec.rules[0].to[2][1]", ["spec", "rules", 0, "to", 2, 1], id="indexes"),
        pytest.param("spec.[1]", ["spec", 1], id="an index behind a dot"),
        pytest.param("spec.l[+01]", ["spec", "l", 1], id="an index with a sign"),
        pytest.param("spec.a]b", ["spec", "a]b"], id="a bracket that closes nothing"),
    ],
)
def test_paths(path: str, steps: list[str | int]) -> None:
    assert parse_path(path) == steps


@pytest.mark.parametrize(
    ("path", "told"),
    [
        pytest.param("spec.", "empty segment", id="an end"),
        pytest.param("spec.a[0]b", "brackets do not match", id="a bracket"),
        pytest.param("[0].a", "must start with a key", id="an index first"),
        pytest.param("a[x]", 'bad index "x"', id="a word"),
        pytest.param("a[ 1]", 'bad index " 1"', id="a space"),
        pytest.param("a[1_0]", 'bad index "1_0"', id="a number as Python writes it"),
        pytest.param("a[\u0661]", "bad index", id="a digit of another script"),
        pytest.param("a[-1]", "negative index -1", id="below 0"),
        pytest.param(".".join(["a"] * 3000), "3000 steps", id="too deep"),
        pytest.param("a[10001]", "exceeds maximum", id="too far"),
    ],
)
def test_what_is_no_path(path: str, told: str) -> None:
    with pytest.raises(Malformed, match=told):
        parse_path(path)


def test_what_is_missing_is_made() -> None:
    target: Document = {"spec": {"keep": 1}}
    put(target, "spec.list[1].name", lambda _before: "x")

    assert target == {"spec": {"keep": 1, "list": [None, {"name": "x"}]}}


@pytest.mark.parametrize(
    ("spec", "path", "told"),
    [
        pytest.param("text", "spec.a", 'key "a" needs an object', id="no object"),
        pytest.param({"a": {}}, "spec.a[0]", "index 0 needs a list", id="no list"),
    ],
)
def test_what_stands_in_the_way(spec: Json, path: str, told: str) -> None:
    with pytest.raises(Malformed, match=told):
        put({"spec": spec}, path, lambda before: before)
