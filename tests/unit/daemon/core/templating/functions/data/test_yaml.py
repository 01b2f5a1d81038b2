"""toYaml where texts hold odd characters; fromYaml where two parsers of YAML are of two minds."""

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
        pytest.param(
            '{{ list "p\\n\\u2028" "q" | toYaml }}', "- |+\n  p\n\u2028- q", id="a line end of another kind"
        ),
        pytest.param('{{ list "p\\u2028\\n" "q" | toYaml }}', "- |+\n  p\u2028\n- q", id="both kinds"),
        pytest.param('{{ "\\ufeffa b" | toYaml }}', r'"\uFEFF\x61\x20\x62"', id="a byte order mark"),
    ],
)
def test_literal_texts(template: str, expected: str) -> None:
    assert render(template) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(r'a: "it\'s \'so\'"', r"map[a:it's 'so']", id="an apostrophe"),
        pytest.param(r'é: "http:\/\/x"', "map[Error:", id="a slash"),
        pytest.param(r'{a: \/, b: "\\/", c: ' + r"'\/'}", r"map[a:\/ b:\/ c:\/]", id="a slash that is none"),
        pytest.param("[" * 200_000, "map[Error:", id="nested as deep as it gets"),
        pytest.param('a: !!binary "**"', "map[Error:", id="no base64"),
        pytest.param("a: !!binary /2E=", "map[a:\ufffda]", id="bytes that are no text"),
    ],
)
def test_odd_documents(text: str, expected: str) -> None:
    made = render("{{ .text | fromYaml }}", {"text": text})
    assert made == expected if expected.endswith("]") else made.startswith(expected)
