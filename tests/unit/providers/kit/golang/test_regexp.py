"""Go's regular expressions: matches and replacements."""

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import regexp
from syncret.providers.work import Work


@pytest.mark.parametrize(
    ("source", "template", "text", "expected"),
    [
        pytest.param("-", "_", "a-b-c", "a_b_c", id="every match"),
        pytest.param("x", "y", "abc", "abc", id="no match"),
        pytest.param("^db/", "", "db/db/x", "db/x", id="anchored"),
        pytest.param("^", "p/", "k", "p/k", id="empty match at the start"),
        pytest.param("$", "/s", "k", "k/s", id="empty match at the end"),
        pytest.param(r"\\C|\Q\C\E", "-", r"a\C", "a-", id="quoted backslash"),
        pytest.param("x*", "-", "abc", "-a-b-c-", id="empty matches"),
        pytest.param("a*", "-", "baac", "-b-c-", id="none right after a match"),
        pytest.param("b*", "-", "", "-", id="in nothing"),
        pytest.param(".", "é", "😀x", "éé", id="characters, not bytes"),
        pytest.param("f(.*)o", "n_$1", "foodaloo", "n_oodalo", id="numbered group"),
        pytest.param("(a)(b)", "$1x", "ab", "", id="the longest name counts: there is no group 1x"),
        pytest.param("(a)(b)", "${1}x", "ab", "ax", id="braces"),
        pytest.param("(a)(b)", "$2$1$0", "ab", "baab", id="whole match"),
        pytest.param("(?P<first>a)b", "$first-${first}", "ab", "a-a", id="named group"),
        pytest.param("(a)|(b)", "[$1$2]", "ab", "[a][b]", id="groups that took no part"),
        pytest.param("a", "$$1", "a", "$1", id="a dollar sign"),
        pytest.param("a", "$", "a", "$", id="a lone dollar sign"),
        pytest.param("a", "${x", "a", "${x", id="braces not closed"),
        pytest.param("a", "${}-$ -$-", "a", "${}-$ -$-", id="no name"),
        pytest.param("(?P<é>a)", "$é²", "a", "a²", id="letters and digits of all scripts make a name"),
        pytest.param("(a)", "$01", "a", "", id="no leading zeros"),
        pytest.param("(a)", "$9$100000000000", "a", "", id="no such group"),
        pytest.param("(a)", "\udcff$1\udcc3", "xa", "x\udcffa\udcc3", id="stray bytes"),
        pytest.param(r"\B", "-", "aé\udcff b", "aé-\udcff- b", id="no place inside of a character"),
        pytest.param("(a)", r"\1\\", "a", r"\1\\", id="a backslash means nothing"),
    ],
)
def test_replace_all(source: str, template: str, text: str, expected: str) -> None:
    assert regexp.compile(source, Work()).replace_all(text, template, Work()) == expected


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        pytest.param("é|b", "éaéb", [(0, 1), (2, 3), (3, 4)], id="characters, not bytes"),
        pytest.param("b", "\udcff\udcffab", [(3, 4)], id="a stray byte is one"),
        pytest.param(r"\B", "aéb", [], id="no place inside of a character"),
    ],
)
def test_spans(source: str, text: str, expected: list[tuple[int, int]]) -> None:
    pattern = regexp.compile(source, Work())
    assert list(pattern.spans(text, Work())) == expected
    assert pattern.search(text, Work()) == bool(expected)


def test_search_is_not_anchored() -> None:
    assert regexp.compile("sh", Work()).search("pushed", Work())
    assert not regexp.compile("^sh", Work()).search("pushed", Work())


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        pytest.param("a(b", "missing closing ): `a(b`", id="parenthesis"),
        pytest.param("([", "missing closing ]: `[`", id="bracket"),
        pytest.param("*a", "missing argument to repetition operator: `*`", id="nothing to repeat"),
        pytest.param("a{2000}", "invalid repeat count: `{2000}`", id="too often"),
        pytest.param("(?=a)", "invalid or unsupported Perl syntax: `(?=`", id="lookahead"),
        pytest.param("a\\", "trailing backslash at end of expression: ``", id="backslash"),
        pytest.param(r"\C", r"invalid escape sequence: `\C`", id="one byte"),
        pytest.param("\udcff", "invalid UTF-8", id="stray bytes"),
        pytest.param("()" * 20_000, "expression too large: it has too many groups", id="groups"),
        pytest.param(
            "(" * 20_000 + ")" * 20_000, "expression too large: it has too many groups", id="nested groups"
        ),
    ],
)
def test_says_in_the_words_of_go_what_is_wrong(source: str, reason: str) -> None:
    with pytest.raises(regexp.PatternError) as caught:
        regexp.compile(source, Work())
    assert caught.value.reason == f"error parsing regexp: {reason}"


@pytest.mark.parametrize("source", ["(", "a(?=b)", r"(a)\1", "a{2000}", "[z-a]", "\udcff", r"a\C"])
def test_refuses(source: str) -> None:
    with pytest.raises(regexp.PatternError, match="failed to compile"):
        regexp.compile(source, Work())

    assert issubclass(regexp.PatternError, Malformed)


def test_a_nasty_pattern_takes_linear_time() -> None:
    assert not regexp.compile("^(a+)+$", Work()).search("a" * 50_000 + "b", Work())
