"""Equal forms of expressions: what the engine alone would refuse, or understand in another way."""

import pytest

from syncret.config.meta import Document
from syncret.daemon.core.exports.cel import programs
from syncret.daemon.core.exports.cel.messages import Evaluation, Result, Text
from syncret.daemon.core.exports.cel.rewriting import escaped_names, rewritten, unescaped
from syncret.daemon.core.exports.export import encoded

RESOURCE: Document = {"i": 55, "l": ["x", "y"], "a-b": "dash", "m": {"in": "word", "c.d": "dot"}, "n": None}


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


def test_what_is_too_deep_all_the_same() -> None:
    failure = evaluated("(" * 60 + "'a'" + ")" * 60).failure
    assert failure is not None
    assert failure.kind == "limit"


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
