"""What a small manifest could ask for without an end is refused, or cheap: all of it pays from one budget."""

from collections.abc import Callable

import msgspec
import pytest

from syncret.config.fields import Json
from syncret.config.resources.external_secret import Rewrite, RewriteMerge, RewriteRegexp
from syncret.config.resources.push_secret import PushSecretSpec
from syncret.daemon.core.assemble import rewrite
from syncret.daemon.core.push_entries import Store, entries
from syncret.providers.errors import OverBudget
from syncret.providers.generators.password import PasswordSpec, make_password
from syncret.providers.kit import extract
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import jsonpath, regexp
from syncret.providers.work import Work
from tests.support.templates import no_template

DOUBLE = {"source": ".+", "target": "${0}${0}"}
LONG_NAME = b'{"' + b"a" * 20_000 + b'":1}'
LIST = b"[" + b",".join([b'"xxxxxxxx"'] * 25_000) + b"]"
SAME_100 = "[" + ",".join(["0"] * 100) + "]"


def properties(document: bytes, *paths: str) -> Callable[[Work], object]:
    """Properties of one value, as entries of one object have them."""
    return lambda work: [extract.value(document, path, work) for path in paths]


def path_in(document: Json, path: str) -> Callable[[Work], object]:
    """A JSONPath in the answer of a webhook."""
    return lambda work: jsonpath.parse(path, work).get(document, work)


def rewritten(values: dict[str, bytes], *operations: Rewrite) -> Callable[[Work], object]:
    return lambda work: rewrite(operations, values, work, transform=no_template)


def replaced(source: str, target: str) -> Rewrite:
    return Rewrite(regexp=RewriteRegexp(source=source, target=target))


def parsed(work: Work) -> object:
    return gojson.unmarshal("[" + ",".join(['{"a":1}'] * 100_000) + "]", work)


def pushed(work: Work) -> object:
    data_to: Json = {"storeRef": {"name": "s"}, "rewrite": [{"regexp": DOUBLE}] * 34}
    spec: Json = {"secretStoreRefs": [{"name": "s"}], "selector": {}, "dataTo": [data_to]}
    store = Store("SecretStore", "s", frozenset[tuple[str, str]]())
    return entries(msgspec.convert(spec, PushSecretSpec), {"k": b"v"}, store, work, transform=no_template)


def compiled(sources: list[str]) -> Callable[[Work], object]:
    return lambda work: [regexp.compile(source, work) for source in sources]


def passwords(work: Work) -> object:
    spec = PasswordSpec(length=65536, allow_repeat=True)
    return [make_password(spec, work) for _ in range(200)]


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(properties(LONG_NAME, "*" + "a" * 9000 + "b*"), id="a wildcard on a long name"),
        pytest.param(properties(LONG_NAME, *["*" + "a" * 900 + "b*"] * 100), id="a hundred of them"),
        pytest.param(properties(LIST, "@reverse|" * 40 + "@this"), id="40 x @reverse"),
        pytest.param(properties(LIST, *["@reverse|" * 20 + "@this"] * 200), id="20 x @reverse, 200 times"),
        pytest.param(properties(LIST, "@pretty|@ugly|" * 30 + "@this"), id="@pretty|@ugly"),
        pytest.param(properties(b'{"a":1}', "[" + ",".join(["a"] * 9000) + "]"), id="9,000 selectors"),
        pytest.param(path_in([[[[[[[[[[1.0]]]]]]]]]], "$" + SAME_100 * 10), id="unions of 100, ten times"),
        pytest.param(path_in([[1.0] * 10] * 2000, "$[?($ == $)]"), id="compared with itself"),
        pytest.param(path_in([{"x": 1.0}] * 30_000, "$..x"), id="everything below"),
        pytest.param(parsed, id="800 kB of JSON"),
        pytest.param(
            rewritten({"k": b"v"}, *[replaced(".+", "${0}${0}")] * 34), id="a name doubled 34 times"
        ),
        pytest.param(pushed, id="the same in a PushSecret"),
        pytest.param(rewritten({"k" * 100_000: b"v"}, replaced(".", "x" * 100_000)), id="a name of 10 GB"),
        pytest.param(
            rewritten({f"k{n}": b"v" for n in range(10_000)}, *[replaced("a", "b")] * 20), id="10,000 names"
        ),
        pytest.param(
            rewritten({f"k{n}": b'{"a%d":1}' % n for n in range(30_000)}, Rewrite(merge=RewriteMerge())),
            id="30,000 objects merged",
        ),
        pytest.param(compiled([rf"(?:\pL\pN){{60}}x{n}" for n in range(60)]), id="60 large expressions"),
        pytest.param(passwords, id="200 long passwords"),
    ],
)
def test_what_has_no_end_is_refused(ask: Callable[[Work], object]) -> None:
    """With a tenth of the budget, and a tenth of what somebody would write: the test is quick."""
    with pytest.raises(OverBudget, match=r"work(Time|Memory)"):
        ask(Work(seconds=0.1, memory=6_400_000))


@pytest.mark.parametrize("pattern", ["*" + "a" * 9000 + "b", "*?a" * 50 + "b?", "a*" * 450 + "b"])
def test_a_wildcard_that_cannot_match_costs_little(pattern: str) -> None:
    work = Work(seconds=0.05)
    assert extract.value(LONG_NAME, pattern, work) is None
