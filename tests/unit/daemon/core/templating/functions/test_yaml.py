"""toYaml where texts hold line breaks that are none of Unix."""

import pytest

from tests.unit.daemon.core.templating.functions.rendering import render


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        pytest.param('{{ "\\n\\u2028" | toYaml }}', "|2+\n\n\u2028", id="no indent before a break"),
        pytest.param('{{ "p\\n\\u2028q" | toYaml }}', "|-\n  p\n\u2028  q", id="an indent after it"),
        pytest.param('{{ dict "a" "x\\ny\\n" | toYaml }}', "a: |\n  x\n  y", id="lines"),
        pytest.param(
            '{{ dict "a" "\\n" "b" "p\\n\\n" | toYaml }}', "a: |2+\n\nb: |+\n  p\n", id="empty lines"
        ),
    ],
)
def test_literal_texts(template: str, expected: str) -> None:
    assert render(template) == expected
