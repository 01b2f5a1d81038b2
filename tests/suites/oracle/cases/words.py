"""What generated templates are made of: odd texts and numbers, spelt as a template spells them."""

import json
import re
from random import Random
from typing import Final

TEXTS: Final = (
    "", "a", "abc", "Hello World", " x ", "foo bar baz", "first_name", "HTTPServer", "http2xx", "é",
    "ñandú Ñ", "ß", "日本語 text", "İstanbul", "ΑΣ", "a,b,c", "--x--", "$5.00$", "\n", "a\nb\n", "\t tab",
    "1", "0", "-1", "12", "0x10", "08", "1.5", "1e3", "1_000", "0b11", "99999999999999999999", "-0", "inf",
    "nan", "1.", ".5", "true", "x" * 100, "\x85\xa0z", "\u2003w", "a-b_c d", "Bld4Floor3rd", "_under",
    "- -", "eHh4",
    "YQ==", "YQ=", "Y\nQ==", "====", "MFRGG===", "68656c", "zz", "/a/b/../c", "a/b.txt", "..", "//x//",
    "a.b.c", "1h", "-5m", "\U0001f600 smile", "ǆx", "ŉ", "\ufffd", '{"a":1}', "{bad", "<b>&'\"", "\x00\x7f",
    "\u2028", "ab" * 3, "\udcff", "a\udcc3", "\udce6\udc97x", "%d %s", "{{ x }}", "a=b&c=d", "e\u0301",
)  # fmt: skip
"""A lone surrogate stands for a byte that is no text."""

LAYOUTS: Final = (
    "2006-01-02T15:04:05Z07:00", "Mon Jan _2 15:04:05 MST 2006", "02/01/06 03:04PM", "Monday, 02-Jan-06",
    "2006-01-02 15:04:05.000 -0700", "3:4:5 pm .999", "__2 002 2006", "2006-1-2", "15h04m05,000000",
    "2006-01-02", "Z070000 -07:00:00 Z07", "1 2 3 4 5 6 06", "Jan Janu MST -07", "stamp .00 ,99", "", "x",
    "2006-01-02 15:04:05",
)  # fmt: skip
DATES: Final = (
    "2020-01-01", "2021-03-04 05:06:07", "2006-01-02T15:04:05Z", "15:04", "2020-02-30", "x", "", "2020-1-1",
    "2024-02-29T23:59:60Z", "2020-01-01T00:00:00+02:00", "Mon Jan  2 15:04:05 UTC 2006", "02/01/06 03:04PM",
)  # fmt: skip
ZONES: Final = (
    "UTC", "", "America/New_York", "Asia/Kolkata", "Europe/Berlin", "Nope", "Australia/Lord_Howe",
    "Asia/Kathmandu",
)  # fmt: skip
DURATIONS: Final = (
    "1h", "-1.5h", "2h45m", "1us", "1µs", "3ns", "9223372036s", "9223372037s", "1d", "", "+", "1", "0", ".5s",
    "1.s", "1h-1m", "100000h", "0.9999999999999999999s", "86400", "31536001", "-0",
)  # fmt: skip
VERSIONS: Final = (
    "1", "1.2", "1.2.3", "v1.2.3", "1.0.0", "0.0.3", "2.0.0", "1.2.3-beta", "1.2.3-beta.2", "1.2.3-rc.10",
    "01.2.3", "1.2.3+meta", "1.2.3-01", "1.2.3-a..b", "", "x", "1.2.3.4", "1.9.9", "1.2.3-alpha",
    "99999999999999999999.0.0",
)  # fmt: skip
URL_PARTS: Final = (
    "http", "://", "//", "user", ":", "pa%20ss", "@", "host", ".com", ":80", "[::1]", "/", "a b", "%zz",
    "%41", "?", "q=1&b", "#", "frag ment", "é", "*", "..", ";", "mailto", "\n", "[", "]", "<", '"', "%2F",
    "+", "=", "-1",
)  # fmt: skip
PATTERNS: Final = (
    "a", "b*", "(a|b)", "x?", "[a-z]+", r"\d", "^", "$", r"\b", ".", "é", "(?i)A", "(?P<n>b)", "a{2}", "[^a]",
    "(", "[", "*", r"\C", r"\pL", "(?s).", "|", r"\x41", r"\Q.\E", "a+?", r"\w+", "[[:alpha:]]", r"\z",
    "(?m)^", "(?:x)", r"\B",
)  # fmt: skip
EXPANSIONS: Final = (
    "",
    "$0",
    "${1}x",
    "$1x",
    "$n",
    "${n}!",
    "$$",
    "-",
    "$",
    "é",
    "$2",
    "${",
    "${1",
    "$1$1",
    "\\1",
)
JSONS: Final = (
    '{"a":1}', '[1,null,"x"]', "{bad", "1e999", '"\\ud800"', '{"b":{"c":[true,1.50]},"a":"<"}',
    "12345678901234567890", '"x"', "null", "", " [ ] ", '{"a":1,"a":2}', "[1,]", "01", "-0", "1e21",
    '"\\u00e9\\n"', "true", "[[[1]]]", "{} x",
)  # fmt: skip
YAML_WORDS: Final = (
    "a", "b c", "yes", "n", "1", "1.5", "0x1f", "~", "null", "'q'", '"d"', "- x", "k: v", "#c", "a #b",
    "{a: 1}", "[1, 2]", "|\n  lit\n", "x\ny", "trailing ", "2020-01-01", "12:30", "1e3", "!!str 5", "&a z",
    "*a", "%x", "@y", "-", "? q", "\tt", "0o17", "017", ".5", "+1", "1_000", "<<", "=", ".", "on", "Off",
    "http://x:80/", "\U0001f600", "\x7f", "{x: y, on: off}", "\n  n1: 1\n  n2: yes", "\n- 1\n- no",
    "!!binary YWJj", "0b101", "0_7", ".inf", ".nan", "1e30", "12345678901234567890", "&anc {p: 1}",
    ">\n  fold\n  ed\n", "true", "1:30:45", "!!int '5'", "'it''s'",
)  # fmt: skip
KINDS: Final = (
    "string",
    "int",
    "int64",
    "float64",
    "bool",
    "slice",
    "map",
    "ptr",
    "struct",
    "invalid",
    "x",
    "",
)
TYPES: Final = (
    "string", "int", "[]interface {}", "map[string]interface {}", "semver.Version", "*semver.Version",
    "time.Time", "",
)  # fmt: skip

INTEGERS: Final = (
    "0", "1", "2", "3", "4", "5", "7", "10", "-1", "-2", "50", "100", "2147483648", "9223372036854775807",
    "-9223372036854775808", "0x1F", "0b101", "0o17", "017", "1_000", "'a'", "'é'", "1e3", "1.0", "+5",
)  # fmt: skip
SMALL: Final = ("0", "1", "2", "3", "4", "5", "7", "8", "13", "20", "60", "-1", "-2", "-20")
"""Where a number says how much is made."""

FLOATS: Final = (
    "0.0", "1.0", "1.5", "-2.5", "0.1", "0.2", "2.675", "1e20", "1e21", "1e-7", "123456.789", "-0.4999",
    "1e308", "5e-324", "0.5", "0x1p4", ".5", "-0.0", "100000000.0",
)  # fmt: skip


def spelt(text: str) -> str:
    """The text as a string in a template."""
    quoted = json.dumps(text, ensure_ascii=False)
    return re.sub("[\udc80-\udcff]", lambda stray: f"\\x{ord(stray[0]) - 0xDC00:02x}", quoted)


def text(chance: Random) -> str:
    """An odd text, or a few odd characters."""
    if chance.randrange(7):
        return chance.choice(TEXTS)
    return "".join(chance.choices("aB1 -_.éÑ日\n\t/:=", k=chance.randrange(8)))


def joined(chance: Random, parts: tuple[str, ...], least: int, most: int, between: str = "") -> str:
    """Some of the parts in any order."""
    return between.join(chance.choices(parts, k=chance.randint(least, most)))
