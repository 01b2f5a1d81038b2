from copy import deepcopy
from typing import Annotated, ClassVar, Literal

import msgspec
import pytest
from msgspec import Meta

from syncret.config.errors import Severity
from syncret.config.fields import (
    Assumed,
    Base64,
    Bytes,
    Defaulted,
    Duration,
    GeneratorChoice,
    Int32,
    Json,
    Model,
    Name,
    Nullable,
    Rule,
    SecretKey,
    StoreChoice,
    Timestamp,
    at_most_one,
    exactly_one,
)
from syncret.config.meta import NullIsEmpty
from syncret.config.schema.shape import UnsupportedType
from syncret.config.schema.structural import Schema
from tests.unit.config.support import CATALOG, messages


class Inner(Model):
    PROPERTIES: ClassVar[tuple[int, int | None]] = (1, 2)

    one: str | None = None
    two: str | None = None
    three: str | None = None


class Policies(Model):
    creation: str = "Owner"
    deletion: Literal["Retain", "Delete"] = "Retain"
    template: str | None = None


class Sample(Model):
    RULES: ClassVar[tuple[Rule, ...]] = (at_most_one("text", "number"),)

    text: str | None = None
    number: int | None = None
    ratio: float | None = None
    flag: bool = False
    filled: Defaulted[bool] = False
    empty: Defaulted[str] = ""
    assumed: Assumed[str] = "here"
    either: int | str | None = None
    choice: Literal["Alpha", "Beta"] | None = None
    name: Name | None = None
    size: Annotated[int, Meta(ge=1, le=9)] | None = None
    small: Int32 | None = None
    inner: Inner | None = None
    target: Policies = msgspec.field(default_factory=Policies)
    aside: Policies = Policies()
    entries: Annotated[tuple[Policies, ...], Meta(min_length=1, max_length=2)] = ()
    labels: dict[str, str] = {}
    keys: dict[SecretKey, Base64] = {}
    native: NullIsEmpty[dict[str, Bytes]] = {}
    anything: Json = None
    wait: Duration | None = None
    when: Nullable[Timestamp] = None


THREE: Json = [{}, {}, {}]
SCHEMA = Schema.of(Sample, CATALOG)
FILLED = {"filled": False, "empty": "", "target": {"creation": "Owner", "deletion": "Retain"}}


def test_an_empty_document_gets_only_what_the_crd_fills_in() -> None:
    document, problems = SCHEMA.admit({})
    assert document == FILLED
    assert problems == ()


def test_defaults_need_their_parent() -> None:
    document, _ = SCHEMA.admit({"aside": {}, "entries": [{}], "target": {"deletion": "Delete"}})
    policies = {"creation": "Owner", "deletion": "Retain"}
    assert document["aside"] == policies
    assert document["entries"] == [policies]
    assert document["target"] == {"creation": "Owner", "deletion": "Delete"}


def test_null_is_absence_except_where_it_is_a_value() -> None:
    given = {"text": None, "target": None, "labels": {"a": None, "b": "c"}, "when": None, "anything": None}
    document, problems = SCHEMA.admit(given)
    assert document == {**FILLED, "labels": {"b": "c"}, "when": None}
    assert problems == ()


def test_an_unknown_field_is_dropped_with_a_warning() -> None:
    document, problems = SCHEMA.admit({"txet": 1, "inner": {"one": "1", "zzz": {}}})
    assert document == {**FILLED, "inner": {"one": "1"}}
    assert messages(problems) == [
        "?txet: unknown field, it is dropped",
        "?inner.zzz: unknown field, it is dropped",
    ]
    assert problems[0].hint == "did you mean text?"


def test_the_input_is_not_changed() -> None:
    given: Json = {
        "unknown": 1,
        "target": {},
        "entries": [{"creation": "x"}],
        "inner": {"one": None},
    }
    before = deepcopy(given)
    SCHEMA.admit(given)
    assert given == before


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"text": 5}, ["text: must be a string, not an integer"], id="no coercion to string"),
        pytest.param({"text": True}, ["text: must be a string, not a boolean"], id="boolean for string"),
        pytest.param(
            {"number": "5"}, ["number: must be an integer, not a string"], id="no coercion to number"
        ),
        pytest.param(
            {"number": True}, ["number: must be an integer, not a boolean"], id="boolean for number"
        ),
        pytest.param({"number": 5.0}, [], id="whole float for integer"),
        pytest.param(
            {"number": 1e20}, ["number: must be an integer, not a number"], id="a float that lost digits"
        ),
        pytest.param(
            {"number": 5.5}, ["number: must be an integer, not a number"], id="fraction for integer"
        ),
        pytest.param({"number": 2**63}, ["number: must fit into 64 bits"], id="beyond 64 bits"),
        pytest.param({"ratio": 1}, [], id="integer for number"),
        pytest.param({"flag": "yes"}, ["flag: must be a boolean, not a string"], id="string for boolean"),
        pytest.param({"either": 1}, [], id="int for int-or-string"),
        pytest.param({"either": "1h"}, [], id="string for int-or-string"),
        pytest.param({"either": 1000.0}, [], id="whole float for int-or-string"),
        pytest.param({"either": 2**63}, ["either: must fit into 64 bits"], id="int-or-string beyond 64 bits"),
        pytest.param(
            {"either": 1.5}, ["either: must be an integer or a string, not a number"], id="float for it"
        ),
        pytest.param({"choice": "alpha"}, ['choice: unsupported value "alpha"'], id="enum"),
        pytest.param({"name": ""}, ["name: must not be empty"], id="empty"),
        pytest.param(
            {"name": "a" * 254}, ["name: must be at most 253 characters long, has 254"], id="too long"
        ),
        pytest.param({"size": 0}, ["size: must be greater than or equal to 1"], id="minimum"),
        pytest.param({"size": 10}, ["size: must be less than or equal to 9"], id="maximum"),
        pytest.param({"small": 2**31}, ["small: must fit into 32 bits"], id="int32"),
        pytest.param({"inner": {}}, ["inner: must have at least 1 property, has 0"], id="too few properties"),
        pytest.param(
            {"inner": {"one": "", "two": "", "three": ""}},
            ["inner: must have at most 2 properties, has 3"],
            id="too many properties",
        ),
        pytest.param({"inner": []}, ["inner: must be an object, not an array"], id="array for object"),
        pytest.param({"entries": {}}, ["entries: must be an array, not an object"], id="object for array"),
        pytest.param({"entries": []}, ["entries: must have at least 1 entry, has 0"], id="too few entries"),
        pytest.param(
            {"entries": THREE}, ["entries: must have at most 2 entries, has 3"], id="too many entries"
        ),
        pytest.param({"entries": [None]}, ["entries[0]: must be an object, not null"], id="null in an array"),
        pytest.param(
            {"labels": {"a.b": 1}}, ['labels["a.b"]: must be a string, not an integer'], id="map value"
        ),
        pytest.param({"keys": {"a": "YQ=="}}, [], id="base64"),
        pytest.param({"keys": {"a": "Y Q"}}, ["keys.a: must be base64"], id="not base64"),
        pytest.param({"keys": {"a": "é"}}, ["keys.a: must be base64"], id="not even ascii"),
        pytest.param({"keys": {"a": "YQ"}}, ["keys.a: must be base64"], id="base64 without its padding"),
        pytest.param({"keys": {"a": "Y\nQ=="}}, ["keys.a: must be base64"], id="base64 on two lines"),
        pytest.param({"keys": {"a": ""}}, ["keys.a: must be base64, is empty"], id="empty base64"),
        pytest.param({"native": {"a": "", "b": "Y\nQ==\n", "c": None}}, [], id="base64 as Go reads it"),
        pytest.param({"native": {"a": "YQ"}}, ["native.a: must be base64"], id="no base64 for Go either"),
        pytest.param({"when": "2026-02-28T23:59:59.5+01:00"}, [], id="time"),
        pytest.param({"when": "2026-02-28T23:59:59,5Z"}, [], id="time with a comma, as Go reads it"),
        pytest.param({"when": "2026-02-28"}, ["when: must be a time with its zone"], id="day for time"),
        pytest.param(
            {"when": "2026-02-30T00:00:00Z"}, ["when: must be a time with its zone"], id="no such day"
        ),
        pytest.param({"wait": "1d"}, ['wait: time: unknown unit "d" in duration "1d"'], id="duration"),
        pytest.param(
            {"text": "", "number": 1},
            [": at most one of the fields in [text number] may be set"],
            id="rule",
        ),
        pytest.param(
            {"text": "", "number": 1, "name": ""},
            ["name: must not be empty", ": at most one of the fields in [text number] may be set"],
            id="rules go by types",
        ),
        pytest.param(
            {"text": 1, "number": 1}, ["text: must be a string, not an integer"], id="rules need sound fields"
        ),
    ],
)
def test_what_a_schema_says(given: Json, expected: list[str]) -> None:
    assert messages(SCHEMA.admit(given).problems) == expected


def test_a_final_newline_does_not_slip_through_a_pattern() -> None:
    assert [problem.path for problem in SCHEMA.admit({"name": "web\n"}).problems] == ["name"]


def test_all_problems_of_a_document_are_reported_at_once() -> None:
    problems = SCHEMA.admit({"text": 1, "choice": "x", "entries": [{"creation": 2}, 3]}).problems
    assert [problem.path for problem in problems] == ["text", "choice", "entries[0].creation", "entries[1]"]


def test_remedies_come_with_the_problems() -> None:
    hints = {
        each.path: each.hint for each in SCHEMA.admit({"text": 1, "choice": "beta", "number": "1"}).problems
    }
    assert hints == {
        "text": "put it in quotes",
        "choice": "write one of Beta, Alpha",
        "number": "write it without quotes",
    }


def test_a_null_is_an_empty_text_where_go_reads_the_map() -> None:
    given = {"native": {"a": None}, "labels": {"a": None}}
    assert SCHEMA.admit(given).document == {**FILLED, "native": {"a": ""}, "labels": {}}


def test_rules_are_asked_where_inner_rules_are_broken() -> None:
    class Outer(Model):
        RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("one", "two"),)

        one: Sample | None = None
        two: Sample | None = None

    broken: Json = {"text": "", "number": 1}
    messages_of_one = messages(Schema.of(Outer, CATALOG).admit({"one": broken, "two": {}}).problems)
    assert messages_of_one == [
        "one: at most one of the fields in [text number] may be set",
        ": exactly one of the fields in [one two] must be set",
    ]


def test_a_malformed_duration_can_be_a_warning() -> None:
    schema = Schema.of(Sample, CATALOG, typed=Severity.WARNING)
    assert messages(schema.admit({"wait": "60"}).problems) == ['?wait: time: missing unit in duration "60"']


class Store(Model):
    provider: StoreChoice


class Generator(Model):
    generator: GeneratorChoice


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        pytest.param({"fake": {"data": []}}, [], id="one"),
        pytest.param({}, ["provider: must have exactly 1 property, has 0"], id="none"),
        pytest.param(
            {"nosuch": {}},
            [
                "?provider.nosuch: unknown field, it is dropped",
                "provider: must have exactly 1 property, has 0",
            ],
            id="unknown",
        ),
        pytest.param(
            {"fake": {"data": []}, "vault": {"server": "x"}},
            ["provider: must have exactly 1 property, has 2"],
            id="two",
        ),
        pytest.param({"fake": None}, ["provider: must have exactly 1 property, has 0"], id="null"),
        pytest.param({"vault": {}}, ["provider.vault.server: is required"], id="required below"),
        pytest.param(
            {"vault": {"server": "x", "auth": {}}},
            ["provider.vault.auth: exactly one of the fields in [token role] must be set"],
            id="rule below",
        ),
        pytest.param([], ["provider: must be an object, not an array"], id="no object"),
    ],
)
def test_a_provider_is_validated_by_its_own_model(provider: Json, expected: list[str]) -> None:
    assert messages(Schema.of(Store, CATALOG).admit({"provider": provider}).problems) == expected


def test_defaults_reach_into_providers_and_generators() -> None:
    store = Schema.of(Store, CATALOG).admit({"provider": {"vault": {"server": "x"}}})
    assert store.document == {"provider": {"vault": {"server": "x", "version": "v2"}}}
    generator = Schema.of(Generator, CATALOG).admit({"generator": {"passwordSpec": {}}})
    assert generator.document == {"generator": {"passwordSpec": {"length": 24, "noUpper": False}}}


def test_exactly_one_reads_as_its_cel() -> None:
    rule = exactly_one("a", "b")
    assert [rule.holds(each) for each in ({}, {"a": 1}, {"a": 1, "b": 2})] == [False, True, False]
    assert rule.cel == "[has(self.a),has(self.b)].filter(x,x==true).size() == 1"


def test_a_type_that_no_schema_can_say_is_refused() -> None:
    class Wrong(Model):
        blob: bytes

    with pytest.raises(UnsupportedType):
        Schema.of(Wrong, CATALOG)
