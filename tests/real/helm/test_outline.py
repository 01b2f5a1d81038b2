"""Each node and function of an outline in the real Helm: what its template gives is what it is filled to."""

from pathlib import Path

import pytest
import yaml

from syncret.config.meta import Document
from syncret.daemon.install.outline.fill import fill
from syncret.daemon.install.outline.helm import HELPERS, template
from syncret.daemon.install.outline.nodes import (
    SPLICE,
    Outline,
    Root,
    Spliced,
    Value,
    When,
    all_of,
    any_of,
    as_text,
    contains,
    each,
    each_pair,
    equal,
    first,
    given,
    has,
    is_text,
    is_true,
    item,
    json_text,
    merged,
    more,
    not_,
    omit,
    pair,
    present,
    text,
    trunc,
    when,
)
from tests.support.servers.helm import running as helm

pytestmark = pytest.mark.slow

ROOT = Root()
v = Value(ROOT).Values

VALUES: Document = {
    "text": 'a<b> & "c" {{ d }} % é',
    "name": "a-name-",
    "digits": "0123",
    "number": 1234567,
    "zero": 0,
    "empty": "",
    "yes": True,
    "no": False,
    "list": ["x", {"y": [1]}],
    "nothing": [],
    "map": {"b": "1", "a": 2, "with.dot": ""},
    "no-identifier": {"c": "d"},
    "deep": [["p", "q"], ["r"]],
}

PLAIN = (v.text, v.name, v.digits, v.number, v.zero, v.empty, v.yes, v.no, v.list, v.nothing, v.map, v.absent)

OUTLINES: dict[str, Outline] = {
    "values": list(PLAIN),
    "names": [v["no-identifier"].c, item(v.map, "with.dot"), item(v.absent, "x")],
    "constants": ["", "yes", "1", "a: b", "{{ x }}", "#", "-", "*", "~", "é\n", None, True, 7, [], {}, [[]]],
    "truth": [is_true(each_) for each_ in PLAIN],
    "not": [not_(each_) for each_ in PLAIN],
    "present": [present(each_) for each_ in PLAIN],
    "is text": [is_text(each_) for each_ in PLAIN],
    "texts": [as_text(each_) for each_ in PLAIN],
    "json": [json_text(each_) for each_ in PLAIN],
    "chosen": [When(each_, 1, 2) for each_ in PLAIN],
    "left out": [given(each_) for each_ in PLAIN],
    "both": [all_of(v.yes, v.text), all_of(v.no, v.absent), any_of(v.no, v.zero), any_of(v.empty, v.list)],
    "first": [first(v.empty, v.text), first(v.empty, v.zero), first(v.absent, {}), first(v.no, [])],
    "equal": [equal(v.name, "a-name-"), equal(v.name, "b"), equal(v.absent, "")],
    "more": [more(v.number, 1), more(v.zero, 0), more(v.absent, 0)],
    "text": [text("100%", v.name, " ", as_text(v.number)), text(v.text)],
    "trunc": [trunc(v.name, 7), trunc(v.name, 3), trunc(v.name, 99), trunc(v.empty, 3)],
    "contains": [contains(v.name, "nam"), contains(v.name, v.digits)],
    "has": [has(v.list, "x"), has(v.list, "y"), has(v.absent, "x")],
    "merged": [merged(v.map, {"a": v.text}, v.absent, pair(v.name, v.list)), merged()],
    "omitted": [omit(v.map, "a"), omit(v.absent, "a")],
    "each": [each(v.list, lambda one: one), each(v.absent, lambda one: one)],
    "each pair": [each_pair(v.map, lambda key, value: {"key": key, "value": value})],
    "nested": [each(v.deep, lambda outer: each(outer, lambda inner: {"in": inner, "of": outer}))],
    "spliced": ["before", Spliced(v.list), Spliced(v.nothing), when(v.yes, Spliced(["in", "line"])), "after"],
    "nothing": [Spliced(v.nothing), Spliced(v.absent)],
    "members": {"first": 1, SPLICE: v.map},
    "in a list": [{"when": given(v.empty), "then": v.name}, {"a": {"b": [{"c": v.zero}]}}],
    "keys": {"a.b/c": v.name, "with space": 1, "yes": 2},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """What Helm makes of all of them."""
    chart: Path = tmp_path_factory.mktemp("chart")
    (chart / "templates").mkdir()
    (chart / "Chart.yaml").write_text(
        yaml.safe_dump({"apiVersion": "v2", "name": "outlines", "version": "1.0.0"})
    )
    (chart / "templates" / "_helpers.tpl").write_text(HELPERS)
    document: Outline = {"apiVersion": "v1", "kind": "Outlines", **OUTLINES}
    (chart / "templates" / "all.yaml").write_text(template([document], {ROOT: "$"}))
    (found,) = helm.template(chart, VALUES)
    return found


@pytest.mark.parametrize("name", OUTLINES)
def test_helm_makes_what_is_filled_in(made: Document, name: str) -> None:
    expected = fill({name: OUTLINES[name]}, {ROOT: {"Values": VALUES}})
    assert made[name] == expected[name]
