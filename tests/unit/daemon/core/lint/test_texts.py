"""The languages within manifests: what their engines refuse, with position and remedy."""

import pytest

from syncret.daemon.core.lint import texts
from syncret.daemon.core.lint.texts import Keys

KEYS = Keys(frozenset({"user", "password", "tls.crt"}), "no entry of data makes it")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("{{ .user }}{{ $.password }}", [], id="keys that are there"),
        pytest.param('{{ index . "tls.crt" }}{{ index $ "user" }}', [], id="by index"),
        pytest.param("{{ .usr }}", ["usr"], id="field"),
        pytest.param("{{ $.usr }}", ["usr"], id="field of $"),
        pytest.param('{{ index . "usr" }}', ["usr"], id="index"),
        pytest.param("{{ .tls.crt }}", ["tls"], id="dotted"),
        pytest.param("{{ .usr | upper | quote }}", ["usr"], id="pipeline"),
        pytest.param('{{ printf "%s" (.usr | upper) }}', ["usr"], id="parentheses"),
        pytest.param(
            "{{ if .usr }}{{ .psword }}{{ else }}{{ .x }}{{ end }}", ["usr", "psword", "x"], id="if"
        ),
        pytest.param(
            "{{ with .user }}{{ .any }}{{ $.usr }}{{ else }}{{ .x }}{{ end }}", ["usr", "x"], id="with"
        ),
        pytest.param("{{ with . }}{{ .usr }}{{ end }}", ["usr"], id="with the data"),
        pytest.param("{{ range .user }}{{ .any }}{{ end }}", [], id="range"),
        pytest.param("{{ $x := . }}{{ $x.usr }}", [], id="variable"),
        pytest.param("{{ (fromJson .user).any }}{{ (fromJson .usr).any }}", ["usr"], id="of a result"),
        pytest.param('{{ define "t" }}{{ .usr }}{{ end }}{{ template "t" . }}', ["usr"], id="template"),
        pytest.param(
            '{{ define "t" }}{{ .usr }}{{ end }}{{ template "t" .user }}', [], id="template of a value"
        ),
        pytest.param('{{ define "t" }}{{ template "t" . }}{{ end }}{{ template "t" . }}', [], id="recursion"),
        pytest.param('{{ define "t" }}{{ .usr }}{{ end }}', [], id="never called"),
        pytest.param('{{ block "t" . }}{{ $.usr }}{{ end }}', ["usr"], id="block"),
        pytest.param("no template: .usr", [], id="plain text"),
    ],
)
def test_keys_that_nothing_makes(text: str, expected: list[str]) -> None:
    found = list(texts.template("p", text, KEYS))

    assert [each.message.split('"')[1] for each in found] == expected
    assert all(each.runtime and not each.fatal for each in found)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("{{ .usr }}", "did you mean user?"),
        ("{{ .tls.crt }}", 'write {{ index . "tls.crt" }}'),
        ("{{ .elsewhere }}", "known are password, tls.crt, user"),
    ],
)
def test_keys_that_are_there_are_named(text: str, hint: str) -> None:
    assert [each.hint for each in texts.template("p", text, KEYS)] == [hint]


def test_keys_are_not_looked_for_if_they_are_not_known() -> None:
    assert list(texts.template("p", "{{ .anything }}")) == []


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        pytest.param(
            "a\n {{ .x | toBase64 }}", 'line 2, column 10: function "toBase64"', "b64enc?", id="alias"
        ),
        pytest.param("{{ .x | uper }}", 'function "uper" not defined', "did you mean upper?", id="near"),
        pytest.param('{{ env "X" }}', 'function "env" not defined', "reads no environment", id="removed"),
        pytest.param('{{ include "a" . }}', 'function "include"', "{{ template", id="Helm's"),
        pytest.param("{{ .x", "line 1, column 6: unclosed action", "close it with }}", id="unclosed"),
        pytest.param("{{ if .x }}", "unexpected EOF", "{{ end }}", id="no end"),
        pytest.param("{{ end }}", "unexpected <end>", "one {{ end }} too many", id="no begin"),
        pytest.param("{{ .my-key }}", "bad character U+002D", '{{ index . "my-key" }}', id="dash"),
        pytest.param("{{ $x }}", 'undefined variable "$x"', "declare it: {{ $x := ... }}", id="variable"),
        pytest.param("{{ $url := 1 }}{{ $ulr }}", 'undefined variable "$ulr"', "$url?", id="near variable"),
        pytest.param("{{ ('a }}", "unterminated character", "double quotes", id="quotes"),
    ],
)
def test_templates_that_do_not_parse(text: str, message: str, hint: str) -> None:
    (found,) = texts.template("p", text)

    assert found.message.startswith("the template does not parse: line ")
    assert message in found.message
    assert hint in found.hint


def test_the_line_within_a_text_is_kept() -> None:
    (found,) = texts.template("p", "a\nb\n{{ .usr }}", KEYS)

    assert found.text_line == 3


@pytest.mark.parametrize(
    ("call", "fails"),
    [
        ('regexMatch "[a" .user', True),
        ('regexReplaceAll "(?<=a)b" .user ""', True),
        ('mustRegexFind "a" .user', False),
        ('regexQuoteMeta "[a"', False),
        ('contains "[a" .user', False),
    ],
)
def test_regular_expressions_of_a_template(call: str, *, fails: bool) -> None:
    found = list(texts.template("p", f"{{{{ {call} }}}}", KEYS))

    assert [("is malformed" in each.message, "[a" in each.message) for each in found] == [
        (True, False)
    ] * fails


@pytest.mark.parametrize(
    ("source", "reason", "hint"),
    [
        ("(?<=a)b", "invalid or unsupported Perl syntax", "no look-around"),
        (r"(a)\1", "invalid escape sequence", "no back references"),
        ("svc([", "missing closing ]", "close the set with ]"),
        ("(a", "missing closing )", "close the group with )"),
        ("a)", "unexpected )", "remove it"),
        ("*a", "missing argument to repetition operator", "before it"),
        ("a{1001}", "invalid repeat count", "up to 1000"),
        ("[z-a]", "invalid character class range", "smaller character first"),
        ("[[:word:]", "missing closing ]", "close the set"),
        ("[[:wrd:]]", "invalid character class range", "smaller character first"),
    ],
)
def test_regular_expressions(source: str, reason: str, hint: str) -> None:
    (found,) = texts.regexp("p", source)

    assert reason in found.message
    assert hint in found.hint


@pytest.mark.parametrize(
    ("source", "column"),
    [("$.a[0", 6), ("$.a..", 6), ("$[?(@.name == )]", 15), ("", None), ("$.a.b", None), ('$["a b"]', None)],
)
def test_json_paths(source: str, column: int | None) -> None:
    found = list(texts.jsonpath("p", source)) if source else []

    assert [each.message for each in found] == (
        [f"the JSONPath cannot be read from column {column} on"] if column else []
    )


@pytest.mark.parametrize(
    "text", ["0 25 * * *", "0 0 * * 8", "0 0 31-1 * *", "@evry 1h", "* * * *", "*/0 * * * *", "@every x"]
)
def test_schedules_that_never_fire(text: str) -> None:
    (found,) = texts.schedule("p", text)

    assert found.message.startswith("the window never opens: ")
    assert "write five fields" in found.hint


@pytest.mark.parametrize("text", ["0 22 * * *", "@daily", "@every 6h", "0 0 * * mon-fri"])
def test_schedules_that_fire(text: str) -> None:
    assert list(texts.schedule("p", text)) == []
