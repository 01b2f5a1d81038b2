"""A stranger's template cannot take more than its budget, whichever function it tries."""

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
    with pytest.raises(TemplateError, match="budget"):
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
    with pytest.raises(TemplateError, match="budget"):
        render(f"{many}{long}{{{{ range until 40 }}}}{{{{ $_ := {call} }}}}{{{{ end }}}}")


def test_ten_keys_a_template() -> None:
    template = '{{ range until 11 }}{{ $_ := genPrivateKey "ed25519" }}{{ end }}'
    with pytest.raises(TemplateError, match="more keys"):
        render(template)
    assert render(template, budget=Budget(keys=11)) == ""


@pytest.mark.parametrize("call", ["$p | b64dec | pkcs12keyPass `a`", "pemToPkcs12Pass $c.Cert $c.Key `a`"])
def test_key_stores_are_work(call: str) -> None:
    store = "{{ $c := genSelfSignedCert `x` nil nil 1 }}{{ $p := pemToPkcs12Pass $c.Cert $c.Key `a` }}"
    assert render(store + "{{ range until 10 }}{{ $_ := " + call + " }}{{ end }}") == ""
    with pytest.raises(TemplateError, match="budget of work"):
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
