"""Constraints as they are written, and values that satisfy or violate them."""

import pytest

from syncret.config.fields import Json
from syncret.daemon.core.constraints.rules import read_constraints
from syncret.providers.errors import OverBudget
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

PEM = "-----BEGIN CERTIFICATE-----\nY2FuYXJ5\n-----END CERTIFICATE-----\n"


def violated(written: Json, value: bytes | str) -> str | None:
    constraints, problems = read_constraints(written, {"short": {"maxRunes": 3}}, Work())
    assert not problems
    raw = value.encode() if isinstance(value, str) else value
    return constraints.violated(SecretBytes(raw), Work())


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ({"minRunes": 3}, "äöü"),
        ({"minRunes": 2}, b"\xff\xfe"),
        ({"maxRunes": 1}, "\U0001f600"),
        ({"pattern": "b+"}, "abbc"),
        ({"pattern": ["^a", "c$"]}, "abc"),
        ({"pattern": "^.$"}, "ä"),
        ({"format": "pem"}, PEM),
        ({"format": "pem"}, PEM + PEM),
        ({"format": "json"}, '{"a": [1]}'),
        ({"format": "base64"}, "Y2FuYXJ5"),
        ({"format": "url"}, "postgres://a:b@host:5432/db"),
        ({"oneOf": ["a", "b"]}, "b"),
        ({"min": 1, "max": 2}, "1.5"),
        ({"min": -1.5}, "-1.50"),
        ({"cel": "size(value) == 2"}, "ab"),
        ("short", "abc"),
        (["short", {"minRunes": 1}], "abc"),
        ({}, "anything"),
        ([], "anything"),
    ],
)
def test_a_value_that_satisfies(written: Json, value: bytes | str) -> None:
    assert violated(written, value) is None


@pytest.mark.parametrize(
    ("written", "value", "name"),
    [
        ({"minRunes": 4}, "äöü", "minRunes"),
        ({"maxRunes": 2}, "abc", "maxRunes"),
        ({"pattern": ["^a", "x"]}, "abc", "pattern"),
        ({"format": "pem"}, "x" + PEM, "format"),
        ({"format": "pem"}, PEM.replace("END CERTIFICATE", "END KEY"), "format"),
        ({"format": "pem"}, "", "format"),
        ({"format": "json"}, "{'a': 1}", "format"),
        ({"format": "json"}, "NaN", "format"),
        ({"format": "json"}, "[" * 100_000, "format"),
        ({"format": "base64"}, "Y2FuYXJ", "format"),
        ({"format": "base64"}, "Y2Fu YXJ5", "format"),
        ({"format": "url"}, "/path", "format"),
        ({"format": "url"}, "http://", "format"),
        ({"format": "url"}, "http://a b/", "format"),
        ({"format": "url"}, "http://h:port/", "format"),
        ({"oneOf": ["a"]}, "A", "oneOf"),
        ({"min": 2}, "1.99", "min"),
        ({"max": 2}, "1e1", "max"),
        ({"max": 2}, "٢", "max"),
        ({"max": 2}, "NaN", "max"),
        ({"max": 2}, "1" * 1_000, "max"),
        ({"cel": "size(value) > 2"}, "ab", "cel"),
        ({"cel": "int(value) > 2"}, "no number", "cel"),
        ("short", "abcd", "maxRunes"),
        ([{"minRunes": 1}, "short"], "abcd", "maxRunes"),
    ],
)
def test_a_value_that_violates(written: Json, value: str, name: str) -> None:
    assert violated(written, value) == name


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("shrt", "shrt"),
        (7, "mapping"),
        (None, "mapping"),
        ([["x"]], "mapping"),
        ({"minLen": 3}, "minLen"),
        ({"minRunes": -1}, "minRunes"),
        ({"minRunes": True}, "minRunes"),
        ({"maxRunes": "3"}, "maxRunes"),
        ({"pattern": "("}, "pattern"),
        ({"pattern": "(?=a)"}, "pattern"),
        ({"pattern": [1]}, "pattern"),
        ({"pattern": ["a"] * 100}, "pattern"),
        ({"format": "xml"}, "format"),
        ({"format": 1}, "format"),
        ({"oneOf": [1, 2]}, "oneOf"),
        ({"oneOf": [1]}, "oneOf"),
        ({"min": "1"}, "min"),
        ({"max": False}, "max"),
        ({"cel": 1}, "cel"),
        ({"cel": "value +"}, "cel"),
        ({"cel": "other == 'a'"}, "cel"),
        ({"cel": "size(value)"}, "cel"),
        ({"cel": "true" + " || true" * 200}, "cel"),
        ({"cel": "[1].all(a, [1].all(b, [1].all(c, true)))"}, "cel"),
        ([{"minRunes": 1}] * 100, "64"),
    ],
)
def test_a_malformed_constraint_is_told_by_its_name(written: Json, told: str) -> None:
    constraints, problems = read_constraints(written, {"short": {"maxRunes": 3}}, Work())
    assert told in str(problems[0])
    assert constraints.all == ()


def test_a_pattern_meant_to_hang_is_answered() -> None:
    assert violated({"pattern": "^(a+)+$"}, "a" * 100_000 + "b") == "pattern"


def test_a_search_that_costs_too_much_is_no_verdict() -> None:
    constraints, _ = read_constraints({"pattern": "x"}, {}, Work())
    with pytest.raises(OverBudget):
        constraints.violated(SecretBytes(b"x" * 1_000_000), Work(seconds=0.001))


def test_a_constraint_whose_own_mistake_is_told_elsewhere_says_nothing() -> None:
    constraints, problems = read_constraints("broken", {"broken": None}, Work())
    assert not problems
    assert constraints.violated(SecretBytes(b""), Work()) is None
