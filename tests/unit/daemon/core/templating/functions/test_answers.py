"""What Go answers: 2,900 templates with the text that ESO 2.9 made of them, or that it failed.

The templates were generated, function by function, from odd numbers, odd texts, empty values and wrong kinds.
"""

import json
from pathlib import Path
from typing import cast

import pytest

from syncret.daemon.core.templating.golang.errors import TemplateError
from tests.unit.daemon.core.templating.functions.rendering import render

ANSWERS = cast(
    "dict[str, list[list[str]]]",
    json.loads(Path(__file__).with_name("answers.json").read_text(encoding="utf-8")),
)


@pytest.mark.parametrize("family", sorted(ANSWERS))
def test_go_says_the_same(family: str) -> None:
    differences: list[tuple[str, str | None, str | None]] = []
    for template, *wanted in ANSWERS[family]:
        try:
            got: str | None = render(template)
        except TemplateError:
            got = None
        want = wanted[0] if wanted else None
        if got != want:
            differences.append((template, want, got))
    assert differences == []
