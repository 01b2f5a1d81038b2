"""Numbers of thousands of digits, which Python's `int` refuses, are out of range as they are in Go."""

import pytest

from syncret.daemon.core.templating.golang.errors import TemplateError
from tests.unit.daemon.core.templating.functions.rendering import render

LONG = '{{ $long := repeat 5000 "1" }}'


@pytest.mark.parametrize(
    ("template", "wanted"),
    [
        pytest.param("{{ int $long }} {{ add $long 1 }}", "0 1", id="conversions give 0"),
        pytest.param("{{ atoi $long }}", "9223372036854775807", id="atoi gives the largest"),
        pytest.param('{{ atoi (print "-" $long) }}', "-9223372036854775808", id="atoi gives the smallest"),
        pytest.param('{{ atoi (print (repeat 5000 "0") "7") }}', "7", id="zeros in front do not count"),
        pytest.param("{{ toDecimal $long }}", "0", id="octal"),
        pytest.param('{{ (fromYaml (print "a: " $long)).a | len }}', "5000", id="text in YAML"),
        pytest.param(
            '{{ semverCompare (print ">1.0.0-" $long) (print "1.0.0-" $long "1") }}',
            "true",
            id="a pre-release",
        ),
    ],
)
def test_they_are_out_of_range(template: str, wanted: str) -> None:
    assert render(LONG + template) == wanted


@pytest.mark.parametrize("template", ["{{ semver $long }}", '{{ semverCompare $long "1.0.0" }}'])
def test_no_version_holds_them(template: str) -> None:
    with pytest.raises(TemplateError, match="out of range"):
        render(LONG + template)
