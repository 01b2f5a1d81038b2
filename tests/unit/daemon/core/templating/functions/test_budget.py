"""A stranger's template cannot take more than its budget, whichever function it tries."""

import tracemalloc

import pytest

from syncret.daemon.core.templating.golang.budget import Budget
from syncret.daemon.core.templating.golang.errors import TemplateError
from tests.unit.daemon.core.templating.functions.rendering import render


@pytest.mark.parametrize(
    "template",
    [
        pytest.param('{{ repeat 100000000 "x" }}', id="repeat"),
        pytest.param('{{ indent 100000000 "x" }}', id="indent"),
        pytest.param('{{ nindent 9223372036854775807 "x" }}', id="nindent"),
        pytest.param("{{ seq 1 100000000 }}", id="seq"),
        pytest.param("{{ until 100000000 }}", id="until"),
        pytest.param("{{ untilStep 0 9223372036854775807 1 }}", id="untilStep"),
        pytest.param("{{ randAlpha 100000000 }}", id="randAlpha"),
        pytest.param("{{ randBytes 100000000 }}", id="randBytes"),
        pytest.param('{{ replace "" (repeat 5000 "y") (repeat 5000 "x") }}', id="replace"),
        pytest.param('{{ regexReplaceAll "" (repeat 5000 "x") (repeat 5000 "y") }}', id="regexReplaceAll"),
        pytest.param('{{ regexReplaceAll ".*" (repeat 5000 "x") (repeat 5000 "$0") }}', id="references"),
        pytest.param('{{ wrapWith 1 (repeat 5000 "y") (repeat 5000 "x") }}', id="wrapWith"),
        pytest.param('{{ join (repeat 5000 "y") (until 5000) }}', id="join"),
        pytest.param('{{ splitList "" (repeat 5000000 "x") | len }}', id="splitList"),
        pytest.param(
            '{{ $l := list "xxxxxxxx" }}{{ range until 40 }}{{ $l = list $l $l }}{{ end }}{{ toJson $l }}',
            id="a list of itself many times over, to JSON",
        ),
        pytest.param(
            '{{ $l := list "xxxxxxxx" }}{{ range until 40 }}{{ $l = list $l $l }}{{ end }}{{ deepCopy $l }}',
            id="the same, copied",
        ),
        pytest.param(
            '{{ $l := list "xxxxxxxx" }}{{ range until 40 }}{{ $l = list $l $l }}{{ end }}{{ toYaml $l }}',
            id="the same, to YAML",
        ),
    ],
)
def test_refused_before_it_costs_anything(template: str) -> None:
    with pytest.raises(TemplateError, match=r"template(Time|Memory)"):
        render(template)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("compact $many", id="compact"),
        pytest.param("uniq $many", id="uniq"),
        pytest.param('without $many ""', id="without"),
        pytest.param('join "" $many', id="join"),
        pytest.param("deepEqual $many $same", id="deepEqual"),
        pytest.param("has $many (list $same)", id="has"),
        pytest.param(
            'fromYaml (printf "a: &a %s, b: [%s]" $long (repeat 500 "*a,") | printf "{%s}")', id="fromYaml"
        ),
        pytest.param('semverCompare (repeat 2000 "1 - 2 ") "1.0.0"', id="semverCompare"),
        pytest.param('semverCompare (print (repeat 200 ">1 || ") ">1") "1.0.0"', id="alternatives"),
        pytest.param('filterPEM "A" (repeat 500 "-----BEGIN A-----\\n-----END A-----\\n")', id="filterPEM"),
        pytest.param('regexMatch "[ab]*a[ab]{900}$" (repeat 2000 "ab")', id="regexMatch"),
        pytest.param("mulf " + "1e308 " * 200, id="mulf"),
        pytest.param("divf 1 " + "1e-308 " * 200, id="divf"),
    ],
)
def test_work_counts_even_if_its_result_is_small(call: str) -> None:
    many = '{{ $many := splitList "," (repeat 9000 ",") }}{{ $same := splitList "," (repeat 9000 ",") }}'
    long = '{{ $long := repeat 20000 "1" }}'
    with pytest.raises(TemplateError, match=r"template(Time|Memory)"):
        render(f"{many}{long}{{{{ range until 40 }}}}{{{{ $_ := {call} }}}}{{{{ end }}}}")


@pytest.mark.parametrize(
    "text", [pytest.param("Ab 1.\n", id="words"), pytest.param("\U0001f469\u200d\u0301\0", id="wide")]
)
@pytest.mark.parametrize(
    "call",
    [
        *("b32enc", "camelcase", "html", "initials", "js", "kebabcase", "lower", "nospace", "quote"),
        *("regexQuoteMeta", "snakecase", "swapcase", "title", "toJson", "toYaml", "untitle", "upper"),
        *("wrap 1", 'wrapWith 1 "-"', 'printf "%q"', 'printf "%#v"', 'dict "a" . "k" | toYaml'),
    ],
)
def test_a_character_takes_no_more_than_some_bytes(call: str, text: str) -> None:
    many = text * 5000
    render("{{ .v | " + call + " }}", {"v": text})  # what is made once
    tracemalloc.start()
    try:
        render("{{ .v | " + call + " }}", {"v": many}, budget=Budget(seconds=10.0))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 80 * len(many), f"{peak / len(many):.0f}"


@pytest.mark.parametrize("text", [pytest.param("Ab ", id="words"), pytest.param("\U0001f469", id="wide")])
@pytest.mark.parametrize(
    "call",
    [
        *("b32enc", "camelcase", "initials", "js", "kebabcase", "nospace", "quote", "shuffle", "snakecase"),
        *("swapcase", "title", "untitle", "urlquery", 'wrapWith 1 "-"', 'printf "%q"'),
    ],
)
def test_what_looks_at_each_character_is_work(call: str, text: str) -> None:
    budget = Budget(seconds=10.0)
    render("{{ (.v | " + call + ") | len }}", {"v": text * 5000}, budget=budget)
    assert Budget(seconds=10.0).steps - budget.steps > len(text) * 5000 // 10


@pytest.mark.parametrize("call", ["int64", "float64", "toDecimal", "toYaml"])
def test_long_numbers_take_no_memory(call: str) -> None:
    tracemalloc.start()
    try:
        render("{{ .v | " + call + " }}", {"v": "9" * 50_000})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_500_000


def test_keys_of_digits_are_compared_as_go_does() -> None:
    """In 64 bits, which overflow, and without the time of long numbers."""
    data = {"v": "9" * 20_000, "w": "9" * 20_000 + "1"}
    assert len(render('{{ dict .v "v" .w "w" | toYaml }}', data, budget=Budget(seconds=10.0))) > 40_000
    two_to_the_64th_and_one, five = "18446744073709551617", "5"
    written = render(f'{{{{ dict "{two_to_the_64th_and_one}" "" "{five}" "" | toYaml }}}}')
    assert written.startswith(f'"{two_to_the_64th_and_one}"')


def test_spaces_before_no_line_break_are_looked_at_once() -> None:
    many = " " * 200_000 + "a\x85"
    assert "\\n" not in render("{{ .v | toYaml }}", {"v": many}, budget=Budget(seconds=10.0))


def test_ten_keys_a_template() -> None:
    template = '{{ range until 11 }}{{ $_ := genPrivateKey "ed25519" }}{{ end }}'
    with pytest.raises(TemplateError, match="more keys"):
        render(template)
    assert render(template, budget=Budget(keys=11)) == ""


@pytest.mark.parametrize("call", ["$p | b64dec | pkcs12keyPass `a`", "pemToPkcs12Pass $c.Cert $c.Key `a`"])
def test_key_stores_are_work(call: str) -> None:
    store = "{{ $c := genSelfSignedCert `x` nil nil 1 }}{{ $p := pemToPkcs12Pass $c.Cert $c.Key `a` }}"
    assert render(store + "{{ range until 10 }}{{ $_ := " + call + " }}{{ end }}") == ""
    with pytest.raises(TemplateError, match="templateTime"):
        render(store + "{{ range until 100 }}{{ $_ := " + call + " }}{{ end }}")


def test_private_keys_have_4096_bits_at_most() -> None:
    size = "{{ genPrivateKey `rsa` | len }}"
    assert 3200 < int(render(size)) < 3300  # a key of 4096 bits as PEM
    with pytest.raises(TemplateError, match="wrong number of args"):
        render("{{ genPrivateKey `rsa` 8192 }}")


def test_a_map_within_itself_is_refused_or_empty_but_ends() -> None:
    knot = '{{ $d := dict "a" 1 }}{{ $_ := set $d "d" $d }}'
    assert render(knot + "{{ toJson $d }}") == ""
    with pytest.raises(TemplateError):
        render(knot + "{{ deepCopy $d }}")
    with pytest.raises(TemplateError):
        render(knot + "{{ merge $d $d }}")
