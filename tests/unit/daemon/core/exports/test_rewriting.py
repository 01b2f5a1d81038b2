"""Equal forms of expressions: what the engine alone would refuse, or understand in another way."""

import pytest

from syncret.config.meta import Document
from syncret.daemon.core.exports.cel import parts, programs, rewriting
from syncret.daemon.core.exports.cel.messages import Evaluation, Result, Text
from syncret.daemon.core.exports.cel.rewriting import escaped_names, rewritten, unescaped
from syncret.daemon.core.exports.export import encoded
from tests.suites.corpus.runners.cases import corpus

RESOURCE: Document = {"i": 55, "l": ["x", "y"], "a-b": "dash", "m": {"in": "word", "c.d": "dot"}, "n": None}


def nested(depth: int) -> Document:
    found: Document = {"v": "found"}
    for _ in range(depth):
        found = {"d": found}
    return found


RESOURCE["deep"] = nested(60)


def evaluated(source: str, resource: Document = RESOURCE) -> Result:
    (result,) = programs.evaluate(Evaluation(encoded(resource), {}, (Text(for_secret=False, source=source),)))
    return result


def conditions(count: int, last: str = "'none'") -> str:
    return "".join(f"self.i == {number} ? 'v{number}' : " for number in range(count)) + last


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(conditions(60), "v55", id="many conditions"),
        pytest.param(conditions(50), "none", id="none of them"),
        pytest.param(f"[1].map(x, {conditions(60)})[0]", "v55", id="within a macro"),
        pytest.param("{'k': " + conditions(60) + "}['k']", "v55", id="as a value of a map"),
        pytest.param("{" + conditions(60) + " : 'v'}.map(k, k)[0]", "v55", id="as a key of a map"),
        pytest.param("['a', " + conditions(60) + "][1]", "v55", id="among elements"),
        pytest.param(conditions(700), "v55", id="very many"),
        pytest.param(
            "self.i == 55 ? 'first' : " + conditions(60, "self.nope"),
            "first",
            id="nothing after it is looked at",
        ),
        pytest.param(" + ".join(["'a'"] * 200), "a" * 200, id="long sum"),
        pytest.param(" + ".join(["'a'"] * 40) + " == 'a' ? 'one' : 'many'", "many", id="sum in a condition"),
        pytest.param(
            " + ".join(["'(\\'?'", '"// :"', "r'\\b'", "'''b\n'''"] * 10),
            "('?// :\\bb\n" * 10,
            id="signs in texts",
        ),
        pytest.param("optional.unwrap([self.?i, self.?nope]).map(i, string(i)).join(',')", "55", id="unwrap"),
        pytest.param(
            "[self.?i, self.?nope, self.?i].unwrapOpt().size() == 2 ? 'two' : ''", "two", id="unwrapOpt"
        ),
        pytest.param(f"string({' + '.join(['self.i'] * 50)} - 5)", str(50 * 55 - 5), id="sum of numbers"),
        pytest.param(f"string(-{' - -'.join(['self.i'] * 40)})", str(38 * 55), id="differences"),
        pytest.param(f"({' + '.join(['self.l'] * 40)}).join('')", "xy" * 40, id="sum of lists"),
        pytest.param("self.deep" + ".d" * 60 + ".v", "found", id="fields"),
        pytest.param("self['deep']" + "['d']" * 60 + "['v']", "found", id="indexes"),
        pytest.param("self.?deep" + ".?d" * 60 + ".?v.orValue('no')", "found", id="optional fields"),
        pytest.param("has(self.deep" + ".d" * 60 + ".w) ? 'yes' : 'no'", "no", id="has of many fields"),
        pytest.param("'x'" + ".replace('x', 'xy')" * 60, "x" + "y" * 60, id="calls"),
        pytest.param("(" * 60 + "'a'" + ")" * 60 + " + 'b'", "ab", id="brackets"),
        pytest.param("self.l" + ".map(x, x)" * 40 + "[1]", "y", id="macros"),
        pytest.param("self.a__dash__b", "dash", id="escaped sign"),
        pytest.param("self.m.__in__ + self.m.c__dot__d", "worddot", id="escaped word"),
        pytest.param("has(self.a__dash__b) ? self.?a__dash__b.orValue('') : 'no'", "dash", id="asked for"),
    ],
)
def test_what_is_equal(source: str, expected: str) -> None:
    assert evaluated(source) == Result(expected)


def test_a_name_that_exists_is_no_escaped_one() -> None:
    assert evaluated("self.a__dash__b", {"a__dash__b": "literal", "a-b": "dash"}) == Result("literal")


def test_a_condition_that_fails_makes_the_chain_fail() -> None:
    chain = "self.i == 1 ? 'a' : self.nope ? 'b' : " + conditions(60)
    failure = evaluated(chain).failure
    assert failure is not None
    assert failure.kind == "missing_key"


def test_numbers_are_added_in_their_order() -> None:
    """In another one, this would be an overflow."""
    numbers = ["9223372036854775807", "-9223372036854775807", *["1"] * 20]
    assert evaluated(f"string({' + '.join(numbers)})") == Result("20")


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("[" * 60 + "'a'" + "]" * 60, id="lists"),
        pytest.param("self" + ".a" * 5000, id="very many fields"),
        pytest.param("(" + " ? 'a' : (" * 400 + "'b'" + ")" * 401, id="conditions in conditions"),
    ],
)
def test_what_is_too_deep_all_the_same(source: str) -> None:
    failure = evaluated(source).failure
    assert failure is not None
    assert failure.kind in {"limit", "parse"}


def test_repeated_conditions_do_not_grow_without_end() -> None:
    source = "true"
    for _ in range(60):
        source = f"({source}) ? " + "'a' == 'b' : self.i == 1 ? " * 14 + "false : true"
    assert len(rewritten(source)) <= max(len(source), 100_000)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain", "plain"),
        ("a__b", "a__b"),
        ("dash__dash____underscores__field", "dash-__field"),
        ("a__slash__b__dot__c", "a/b.c"),
        ("__true__", "true"),
    ],
)
def test_unescaped(name: str, expected: str) -> None:
    assert unescaped(name) == expected


def test_names_of_secrets_are_not_escaped() -> None:
    source = "secret.a__dash__b + secrets.?a__dash__b + self.a__dash__b"
    assert escaped_names(source) == {"a__dash__b"}
    assert rewritten(source, {"a__dash__b"}).split().count("`a-b`") == 1


@pytest.mark.parametrize(
    "source", ["(", "]", "'a", "a ? b", "a : b", "?", "{a b}", "optional.unwrap", "`", "\x00"]
)
def test_what_is_no_expression_stays_none(source: str) -> None:
    for text in (source, rewritten(source)):
        failure = programs.check(Text(for_secret=False, source=text)).failure
        assert failure is not None
        assert failure.kind in {"parse", "undeclared"}


@pytest.mark.parametrize("chunk", [2, 3, 5])
def test_every_expression_of_the_corpus_is_the_same(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut into pieces however small, it has the same type, result and failure, and needs the same secrets."""
    for module in (rewriting, parts):
        monkeypatch.setattr(module, "CHUNK", chunk)
    changed = 0
    for case in corpus(None).cases:
        if case.file != "exports.json" or "expression" not in case.body or case.id.startswith("limit-"):
            continue
        source = case.body["expression"]
        text, other = (Text(case.body["for"] == "secret", each) for each in (source, rewritten(source)))
        changed += text.source.split() != other.source.split()
        checked, again = programs.check(text), programs.check(other)
        assert (checked.failure and checked.failure.kind) == (again.failure and again.failure.kind), source
        assert (checked.hints, checked.type) == (again.hints, again.type), (source, other)
        resource = encoded(case.body["resource"])
        (came,), (came_again,) = (
            programs.evaluate(Evaluation(resource, case.body["secrets"], (each,))) for each in (text, other)
        )
        assert came.value == came_again.value, (source, other)
        assert (came.failure and came.failure.kind) == (came_again.failure and came_again.failure.kind), (
            source
        )
    assert changed
