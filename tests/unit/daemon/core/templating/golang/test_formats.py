"""printf. Expectations are those of Go 1.26."""

import pytest

from syncret.daemon.core.templating.golang.formats import sprintf
from syncret.daemon.core.templating.golang.printf import print_all, print_line, sprint
from syncret.daemon.core.templating.golang.values import NO_VALUE, Int64, Uint8, Value, string_map, strings


@pytest.mark.parametrize(
    ("template", "arguments", "expected"),
    [
        pytest.param(
            "%05d|%-5d|%+d|% d|%x|%#X|%o|%O|%b",
            [-42, 7, 7, 7, 255, 255, 8, 8, 5],
            "-0042|7    |+7| 7|ff|0XFF|10|0o10|101",
            id="integers",
        ),
        pytest.param("%[" + "0" * 5000 + "2]d", [1, 2], "2", id="an index of thousands of digits"),
        pytest.param(
            "%c %q %U %#U", [0x65E5, 10, 0x1F600, 0x1F600], "日 '\\n' U+1F600 U+1F600 '😀'", id="runes"
        ),
        pytest.param(
            "%v %g %e %f %.2f %6.1f|%-8.1e|",
            [1e21, 1e-7, 1.5, 1.5, 2.345, 9.96, 12345.0],
            "1e+21 1e-07 1.500000e+00 1.500000 2.35   10.0|1.2e+04 |",
            id="floats",
        ),
        pytest.param(
            "%b %x %.1x %X",
            [1.0, 0.1, 255.9, -0.5],
            "4503599627370496p-52 0x1.999999999999ap-04 0x1.0p+08 -0X1P-01",
            id="binary floats",
        ),
        pytest.param("%#v %#g %+.3g", [1.0, 1.0, 1234.0], "1 1.00000 +1.23e+03", id="flags of floats"),
        pytest.param(
            "%s|%5s|%-5s|%.2s|%x|% X|%#x",
            ["a", "é", "a", "éàè", "hi", "hi", "hi"],
            "a|    é|a    |éà|6869|68 69|0x6869",
            id="strings",
        ),
        pytest.param(
            "%q %+q %#q", ['a"\n\udcff', "é", "a\tb"], '"a\\"\\n\\xff" "\\u00e9" `a\tb`', id="quoted"
        ),
        pytest.param("%v %s %d %x", [b"hi", b"hi", b"hi", b"hi"], "[104 105] hi [104 105] 6869", id="bytes"),
        pytest.param(
            "%v %#v",
            [{"b": [1, None], "a": "x"}, {"b": 1}],
            'map[a:x b:[1 <nil>]] map[string]interface {}{"b":1}',
            id="maps",
        ),
        pytest.param(
            "%T %T %T %T %T",
            [1, Int64(1), strings([]), string_map({}), None],
            "int int64 []string map[string]string <nil>",
            id="types",
        ),
        pytest.param("%d %s %!", ["x", 1], "%!d(string=x) %!s(int=1) %!!(MISSING)", id="wrong verbs"),
        pytest.param("%d %d", [1], "1 %!d(MISSING)", id="missing"),
        pytest.param("%d", [1, "x"], "1%!(EXTRA string=x)", id="extra"),
        pytest.param("%[2]d %[1]d %[9]d", [1, 2], "2 1 %!d(BADINDEX)", id="indexes"),
        pytest.param(
            "%*d|%-*d|%.*f|%*d", [4, 1, 4, 1, 1, 2.55, "x", 1], "   1|1   |2.5|%!(BADWIDTH)1", id="stars"
        ),
        pytest.param("100%% %", [], "100% %!(NOVERB)", id="percent"),
        pytest.param(
            "%t %v %08.3f %+v", [True, 1j, -3.14159, Uint8(7)], "true (0+1i) -003.142 7", id="others"
        ),
    ],
)
def test_sprintf(template: str, arguments: list[Value], expected: str) -> None:
    assert sprintf(template, arguments) == expected


def test_print_puts_spaces_between_what_is_no_string() -> None:
    assert print_all([1, 2, "a", 3, None, None]) == "1 2a3 <nil> <nil>"
    assert print_line([1, "a"]) == "1 a\n"
    assert sprint(NO_VALUE) == "<no value>"
