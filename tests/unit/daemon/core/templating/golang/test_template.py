"""Rendering: Go's text/template, value by value. Expectations are those of Go 1.26."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncret.daemon.core.templating.functions.contract import Context, table
from syncret.daemon.core.templating.golang.budget import Budget
from syncret.daemon.core.templating.golang.errors import TemplateError
from syncret.daemon.core.templating.golang.execution import MissingKey
from syncret.daemon.core.templating.golang.template import LARGEST, NO_FUNCTIONS, Functions, Template
from syncret.daemon.core.templating.golang.types import STRING_MAP
from syncret.daemon.core.templating.golang.values import Int64, TypedMap, Value, string_map, strings
from syncret.providers.work import Work

DATA: dict[str, Value] = {
    "a": "A",
    "i": 42,
    "f": 1.5,
    "nil": None,
    "l": [1, 2, 3],
    "m": {"k": "v", "b": 2},
    "e": [],
    "bin": "\udcff",
}


def render(
    text: str, data: Value = DATA, *, missing_key: MissingKey = "default", budget: Budget | None = None
) -> str:
    context = Context(datetime(2026, 1, 1, tzinfo=UTC), bytes, budget or Budget())
    rendered = Template.parse("t", text, Work()).render(data, context, missing_key=missing_key)
    return rendered.decode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a {{- 1 -}} b", "a1b", id="trimmed"),
        pytest.param("{{/* no */}}x{{- /* no */ -}} y", "xy", id="comments"),
        pytest.param("{{.a}} {{.missing}} {{.nil}}", "A <no value> <no value>", id="nothing"),
        pytest.param("{{print .nil}} {{.missing.x}}", "<nil> <no value>", id="nil as an argument"),
        pytest.param("{{range .l}}{{if eq . 2}}{{continue}}{{end}}{{.}}{{end}}", "13", id="continue"),
        pytest.param("{{range .l}}{{if eq . 2}}{{break}}{{end}}{{.}}{{end}}", "1", id="break"),
        pytest.param("{{range .e}}x{{else}}none{{end}}", "none", id="range over nothing"),
        pytest.param("{{range $k, $v := .m}}{{$k}}={{$v}};{{end}}", "b=2;k=v;", id="sorted map"),
        pytest.param("{{range 3}}{{.}}{{end}}", "012", id="range over a number"),
        pytest.param("{{$x := 1}}{{if true}}{{$x = 2}}{{$x := 3}}{{end}}{{$x}}", "2", id="scopes"),
        pytest.param("{{with .nil}}x{{else with .m}}{{.k}}{{end}}", "v", id="else with"),
        pytest.param(
            '{{define "T"}}<{{.}}>{{end}}{{template "T" .i}}{{block "B" 1}}{{.}}{{end}}', "<42>1", id="blocks"
        ),
        pytest.param("{{(index .l 1)}} {{len .m}} {{slice .a 0 1}}", "2 2 A", id="parts"),
        pytest.param("{{or .missing .nil .a}} {{and .i 0 .nil.x}}", "A 0", id="stops early"),
        pytest.param(
            "{{1.0}} {{1e6}} {{0x1F}} {{'a'}} {{1_000}} {{2i}}", "1 1e+06 31 97 1000 (0+2i)", id="numbers"
        ),
        pytest.param(r'{{"\xc3" | printf "%s\xa9"}}', "é", id="bytes that meet"),
        pytest.param(r'{{eq (print "\xc3" "\xa9") "é"}} {{len .bin}}', "true 1", id="bytes compared"),
        pytest.param("{{.m}} {{.l}} {{.f}}", "map[b:2 k:v] [1 2 3] 1.5", id="whole values"),
        pytest.param(
            r'{{"\377" | js}} {{"<&" | html}} {{"a b/" | urlquery}}', "\udcff &lt;&amp; a+b%2F", id="escapes"
        ),
    ],
)
def test_render(text: str, expected: str) -> None:
    assert render(text) == expected


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        pytest.param("a\n{{ .a", (2, 6), "unclosed action", id="open"),
        pytest.param('{{ "s3cret', (1, 4), "unterminated quoted string", id="string"),
        pytest.param('{{ . | "s3cret" }}', (1, 17), "non executable command", id="a literal is not quoted"),
        pytest.param("{{ foo }}", (1, 4), 'function "foo" not defined', id="function"),
        pytest.param("{{ $x }}", (1, 4), 'undefined variable "$x"', id="variable"),
        pytest.param("x{{end}}", (1, 4), "unexpected <end>", id="end"),
        pytest.param("{{if .}}", (1, 9), "unexpected EOF", id="no end"),
        pytest.param("{{break}}", (1, 3), "outside of range", id="break"),
        pytest.param(
            "{{if .}}{{define `x`}}{{end}}{{end}}", (1, 11), "unexpected <define>", id="define inside"
        ),
        pytest.param("{{" + "(" * 500, (1, 123), "deep", id="parentheses"),
        pytest.param("{{if .}}" * 500, (1, 969), "deep", id="blocks"),
        pytest.param("\n {{ .x.y }}", (2, 5), 'no entry for key "x"', id="missing key"),
        pytest.param("{{ .i.x }}", (1, 4), "can't evaluate field x in type int", id="no field"),
        pytest.param("{{ index .l 9 }}", (1, 4), "index out of range", id="index"),
        pytest.param("{{ len 3 }}", (1, 4), "len of type int", id="kind"),
        pytest.param("{{ lt 1 .a }}", (1, 4), "incompatible types", id="comparison"),
        pytest.param("{{ not }}", (1, 4), "wrong number of args", id="count"),
        pytest.param("{{ template `x` }}", (1, 4), "not defined", id="template"),
        pytest.param("{{ nil }}", (1, 4), "nil is not a command", id="nil"),
        pytest.param("{{ range .f }}{{end}}", (1, 4), "can't iterate", id="range"),
    ],
)
def test_errors_tell_the_place_and_no_value(text: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        render(text, missing_key="error")
    assert (caught.value.line, caught.value.column) == place
    assert message in str(caught.value)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("text", ["9" * 100_000 + "e", "0x" + "1" * 100_000 + "z", "1" * 100_000 + ".5.5"])
def test_a_number_of_very_many_digits(text: str) -> None:
    """With a pattern that goes back digit by digit, this would take minutes."""
    with pytest.raises(TemplateError):
        render(f"{{{{{text}}}}}")


def test_an_error_names_the_function_and_the_inner_template() -> None:
    with pytest.raises(TemplateError) as caught:
        render('{{define "inner"}}{{index . 1}}{{end}}{{template "inner" 5}}')
    assert (caught.value.name, caught.value.function) == ("inner", "index")


@pytest.mark.parametrize(
    ("missing_key", "data", "expected"),
    [
        pytest.param("default", {}, "<no value>", id="default"),
        pytest.param("zero", {}, "<no value>", id="zero of any"),
        pytest.param("zero", string_map({}), "", id="zero of string"),
        pytest.param("default", TypedMap(STRING_MAP), "<no value>", id="default of string"),
    ],
)
def test_missing_keys(missing_key: MissingKey, data: Value, expected: str) -> None:
    assert render("{{.x}}", data, missing_key=missing_key) == expected


def test_functions_get_what_reflect_would_give() -> None:
    def twice(count: int, *texts: str) -> str:
        return "".join(texts) * count

    def big() -> Int64:
        return Int64(2)

    def items() -> Value:
        return strings(["x"])

    functions = Functions(table({"twice": twice, "big": big, "items": items}))
    context = Context(datetime(2026, 1, 1, tzinfo=UTC), bytes)

    def run(text: str) -> bytes:
        return Template.parse("t", text, Work(), functions).render({}, context)

    assert run('{{"b" | twice 2 "a"}} {{printf "%T" items}}') == b"abab []string"
    with pytest.raises(TemplateError, match="expected int; got int64"):
        run("{{twice big}}")
    with pytest.raises(TemplateError, match="expected string"):
        run("{{twice 1 2}}")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{{range 100000000}}{{end}}", id="loop"),
        pytest.param('{{define "T"}}{{template "T"}}{{end}}{{template "T"}}', id="recursion"),
        pytest.param('{{$x := "aaaa"}}{{range 100}}{{$x = print $x $x}}{{end}}', id="doubling"),
        pytest.param('{{range 100}}{{printf "%1000000d" 1}}{{end}}', id="width"),
        pytest.param("{{range 1000000}}{{$.l}}{{end}}", id="output"),
    ],
)
def test_a_stranger_cannot_cost_much(text: str) -> None:
    with pytest.raises(TemplateError, match=r"template(Time|Memory)|deep"):
        render(text)


def test_budgets_are_settable() -> None:
    assert render("{{.a}}b", budget=Budget(output=2)) == "Ab"
    with pytest.raises(TemplateError, match="writes more data than templateMemory"):
        render("{{.a}}b", budget=Budget(output=1))


def test_templates_are_parsed_once() -> None:
    assert Template.parse("n", "{{.}} once", Work()) is Template.parse("n", "{{.}} once", Work())
    assert Template.parse("n", "{{.}} once", Work()) is not Template.parse(
        "n", "{{.}} once", Work(), Functions({})
    )
    assert render("<<.a>>{{.}}") == "<<.a>>" + render("{{.}}")
    assert Template.parse("t", "<<.>>", Work(), NO_FUNCTIONS, ("<<", ">>")).name == "t"


def test_a_template_may_not_be_nested_without_end() -> None:
    chain = "{{if .x}}" + "{{else if .x}}" * 350 + "{{end}}"
    with pytest.raises(TemplateError, match="nested too deeply"):
        Template.parse("t", chain, Work())


def test_threads_share_what_is_parsed() -> None:
    functions = Functions({})

    def parse_many(start: int) -> int:
        texts = (f"{{{{ print {number} }}}}" for number in range(start, start + 3000))
        return sum(len(Template.parse("t", text, Work(), functions).name) for text in texts)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(parse_many, range(0, 12_000, 1500))) == [3000] * 8


def test_a_template_may_not_be_huge() -> None:
    with pytest.raises(TemplateError, match="longer than"):
        Template.parse("t", "x" * (LARGEST + 1), Work())


WORDS = [
    *(
        "{{",
        "}}",
        " ",
        "\n",
        "-",
        ".a",
        "$x",
        ":=",
        "|",
        "(",
        ")",
        ",",
        "`",
        "/*",
        "*/",
        '"s"',
        "1",
        "x",
        "é",
    ),
    *("if", "range", "end", "else", "print", "nil"),
]


@given(st.lists(st.sampled_from(WORDS)))
def test_whatever_stands_there_it_renders_or_is_refused_with_a_place(parts: list[str]) -> None:
    try:
        render("".join(parts))
        place = (1, 1)
    except TemplateError as error:
        place = (error.line, error.column)
    assert min(place) >= 1
