"""Fields with their documentation: examples that follow from the type, words for types."""

from typing import Any, Literal

import pytest

from syncret.config.fields import Duration, LabelSelector, Model, StoreChoice, Timestamp
from syncret.config.schema.docstrings import ABSENT
from syncret.config.schema.field_docs import fields_of, form_of
from syncret.config.schema.shape import shape_of
from tests.unit.config.support import CATALOG


class Part(Model):
    """A part of something."""

    name: str
    """Its name. Example: left"""
    size: int = 2
    """Its size. Example: 5"""


class Whole(Model):
    """All of it."""

    provider: StoreChoice
    level: Literal["high", "low"] = "high"
    on: bool = True
    part: Part | None = None
    parts: tuple[Part, ...] = ()
    """Several of them."""
    by_name: dict[str, tuple[Part, ...]] = {}
    every: Duration = "1h"
    since: Timestamp = ""
    names: tuple[str, ...] = ()
    anything: Any = None
    labels: LabelSelector | None = None


FIELDS = {field.name: field for field in fields_of(shape_of(Whole), CATALOG)}


@pytest.mark.parametrize(
    ("name", "example"),
    [
        pytest.param("level", "low", id="another-choice-than-the-default"),
        pytest.param("on", False, id="not-the-default"),
        pytest.param("part", {"name": "left"}, id="required-fields"),
        pytest.param("parts", [{"name": "left"}], id="a-list-of-them"),
        pytest.param("every", ABSENT, id="a-text-needs-one-of-its-own"),
        pytest.param("byName", ABSENT, id="a-map-needs-one-of-its-own"),
    ],
)
def test_examples_that_follow_from_the_type(name: str, example: object) -> None:
    assert FIELDS[name].example == example


def test_a_field_without_a_docstring_is_described_by_the_class_of_its_value() -> None:
    assert (FIELDS["part"].text, FIELDS["parts"].text) == ("A part of something.", "Several of them.")
    assert (FIELDS["byName"].text, FIELDS["level"].text) == ("A part of something.", "")


def test_fields_below_lists_maps_and_catalogs() -> None:
    assert [field.name for field in fields_of(FIELDS["byName"].shape, CATALOG)] == ["name", "size"]
    assert [field.name for field in fields_of(FIELDS["provider"].shape, CATALOG)] == ["fake", "vault"]
    assert list(fields_of(FIELDS["every"].shape, CATALOG)) == []


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("level", "high, low"),
        ("on", "boolean"),
        ("part", "object"),
        ("parts", "list of objects"),
        ("byName", "map of list of objects"),
        ("every", "duration"),
        ("since", "time"),
        ("names", "list of strings"),
        ("anything", "anything"),
        ("labels", "label selector"),
        ("provider", "one provider"),
    ],
)
def test_types_in_words(name: str, form: str) -> None:
    assert form_of(FIELDS[name].shape) == form
