"""What is written as YAML is read as what it was, by the rules of Kubernetes."""

import random

import pytest

from syncret.config.meta import Document
from syncret.config.text.yaml import parse_text, to_yaml


def read(text: str) -> list[object]:
    return [parsed.value for parsed in parse_text(text.encode())]


@pytest.mark.parametrize(
    "text",
    [
        *("1e3", "12e03", "08", "-.5", "0o17", "y", "n", "on", "~", "", "<<", "2026-01-01", "1_000", "0x1F"),
        *(".inf", "1:30", "---", "a\n---\nb\n", "a\tb", "\0", "\ufeff", "é\x85", "#", "- a", "'"),
    ],
)
def test_a_text_stays_a_text(text: str) -> None:
    document: Document = {"data": {"key": text, text: "value"}, "list": [text]}
    assert read(to_yaml(document)) == [document]


def test_other_values_stay_what_they_are() -> None:
    document: Document = {"a": 1, "b": 1.5, "c": True, "d": None, "e": [], "f": {}, "g": 1e300}
    assert read(to_yaml(document)) == [document]


def test_only_what_has_to_be_is_quoted() -> None:
    assert to_yaml({"b": "plain", "a": "1e3"}) == "b: plain\na: '1e3'\n"


def test_any_text_at_all() -> None:
    chance = random.Random(1)  # noqa: S311  # a table of cases, only longer
    letters = "0189eEoOxXyYnNtTrRuUfFaAlLsS+-._~ :#\n\t'\"&*!|>%@`{}[],?=<\x1b\x85\u2028é😀"
    for _ in range(2000):
        text = "".join(chance.choices(letters, k=chance.randint(0, 6)))
        document: Document = {"data": {"key": text, text: "value"}}
        assert read(to_yaml(document)) == [document]
