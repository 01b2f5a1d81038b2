"""Outlines: what they are filled to, what they refuse, and what cannot be written as a template."""

from typing import Any

import pytest

from syncret.config.errors import ConfigError
from syncret.daemon.install.outline.fill import fill
from syncret.daemon.install.outline.helm import expression, template
from syncret.daemon.install.outline.nodes import (
    SPLICE,
    Outline,
    Refused,
    Root,
    Spliced,
    Value,
    When,
    each,
    each_pair,
    first,
    given,
    merged,
    text,
    when,
)

ROOT = Root()
v = Value(ROOT)


def filled(outline: Outline, **values: object) -> Any:  # noqa: ANN401  # whatever it describes
    return fill(outline, {ROOT: values})


@pytest.mark.parametrize(
    ("outline", "values", "expected"),
    [
        pytest.param({"a": given(v.x)}, {"x": ""}, {}, id="what is empty is left out"),
        pytest.param({"a": v.x}, {}, {"a": None}, id="what is absent is null"),
        pytest.param([when(v.x, 1), 2], {"x": False}, [2], id="an entry is left out"),
        pytest.param([Spliced(v.x), "z"], {"x": ["a"]}, ["a", "z"], id="entries in place of one"),
        pytest.param([Spliced(v.x)], {}, [], id="no entries"),
        pytest.param([each(v.x, lambda one: {"n": one.n})], {"x": [{"n": 1}]}, [{"n": 1}], id="each"),
        pytest.param(
            [each_pair(v.x, lambda key, value: text(key, "=", value))],
            {"x": {"b": "2", "a": "1"}},
            ["a=1", "b=2"],
            id="each pair in the order of keys",
        ),
        pytest.param(
            [each(v.x, lambda one: each(one, lambda two: two))], {"x": [[1], [2, 3]]}, [1, 2, 3], id="nested"
        ),
        pytest.param({"a": 1, SPLICE: v.x}, {"x": {"b": 2}}, {"a": 1, "b": 2}, id="members"),
        pytest.param(merged(v.x, {"a": 2}), {"x": {"a": 1, "b": 1}}, {"a": 2, "b": 1}, id="the last counts"),
        pytest.param(first(v.x, v.y), {"x": 0, "y": ""}, "", id="the last if none is true"),
        pytest.param(When(v.x, v.x.y, 1), {}, 1, id="what is not chosen is not looked at"),
    ],
)
def test_an_outline_is_filled(outline: Outline, values: dict[str, object], expected: object) -> None:
    assert filled(outline, **values) == expected


def test_nothing_can_be_asked_of_what_is_absent() -> None:
    with pytest.raises(ConfigError, match=r"a: is no object"):
        filled(v.a.b)


def test_a_refusal_is_told_only_where_it_is_reached() -> None:
    refused = Refused("a.b", "cannot be", "write c")
    assert filled(first(v.x, refused), x=1) == 1
    with pytest.raises(ConfigError, match=r"a\.b: cannot be \(write c\)"):
        filled(first(v.x, refused))


def test_a_document_is_filled_into_one_of_its_own() -> None:
    outline: Outline = {"a": {"b": [1]}}
    filled(outline)["a"]["b"].append(2)
    assert filled(outline) == {"a": {"b": [1]}}


def test_an_open_place_has_no_truth_in_python() -> None:
    for test in (v.x, first(v.x, v.y)):
        with pytest.raises(TypeError, match="when"):
            bool(test)
    with pytest.raises(TypeError, match="each"):
        list(v.x)


def test_texts_that_a_template_would_read_are_written_as_texts() -> None:
    written = template([{"a": "{{ x }}", "b": "yes", "c": '"', "d": "1"}], {})
    assert 'a: {{ "\\"{{ x }}\\"" }}' in written
    assert 'b: "yes"' in written
    assert 'd: "1"' in written


def test_what_no_expression_can_hold_is_refused_when_it_is_generated() -> None:
    with pytest.raises(TypeError, match="no expression"):
        expression(merged({"a": when(v.x, 1)}), {ROOT: "$"})
