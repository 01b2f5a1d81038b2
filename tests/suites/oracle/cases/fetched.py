"""Fetched values, and what a manifest may have done to them: rewrites, conversions, decoding."""

import base64
from random import Random
from typing import Final

from tests.suites.oracle.cases import words

_KEYS: Final = (
    "a", "b", "db/user", "db/password", "é", "日本", "a.b", "a-b", "A_B", "with space", "x$y", "foo-1",
    "_U002f_", "_U65e5_", "a_U00e9_b", "_Ud800_", "_U1f600_", "\U0001f600", "", "a" * 260, "\t", "c++", "1",
    "²", "a\u0301", "_u002f_", "_U2f_",
)  # fmt: skip
_SOURCES: Final = (
    *words.PATTERNS,
    "^db/(.*)$",
    "([a-z]+)",
    "(?P<name>[^/]+)/(?P<rest>.*)",
    "[^a-zA-Z0-9]",
    "/",
    "-",
)
_TARGETS: Final = (*words.EXPANSIONS, "x-$1", "${name}_$rest", "$1_", "_")
_TRANSFORMS: Final = (
    "{{ .value }}", "{{ .value | upper }}", "x-{{ .value }}", '{{ .value | replace "/" "_" }}', "{{ .none }}",
    "{{ .value", "{{ .value | trunc 3 }}", '{{ fail "no" }}', "{{ .value | b64enc }}", "",
    "{{ .value | sha1sum }}", "{{ . }}", '{{ if hasPrefix "db" .value }}d{{ else }}{{ .value }}{{ end }}',
    "{{ nope }}",
)  # fmt: skip
_OBJECTS: Final = (
    b'{"a":"1","b":2}', b'{"c":{"d":[1,2.50]},"a":"x"}', b'{"e":null,"f":true,"g":1e3}', b"{}", b"[1]", b"x",
    b"", b'{"h":"<>&\\u2028"}', b'{"a":1,"a":2}', b"null", b'{"i":12345678901234567890}',
    b'{"\\u00e9":"\\ud800"}', b' {"b":"y"} ',
)  # fmt: skip
STRATEGIES: Final = {
    "decode": ("None", "", "Base64", "Base64URL", "Auto", "Hex"),
    "convert": ("Default", "", "Unicode", "None"),
    "reverse": ("ReverseUnicode", "None", ""),
}


def values(chance: Random, most: int = 4) -> dict[str, bytes]:
    """Some keys with texts."""
    return {chance.choice(_KEYS): chance.choice(_OBJECTS) for _ in range(chance.randint(0, most))}


def encoded(chance: Random) -> dict[str, bytes]:
    """One key with what may be base64, of one alphabet or the other, whole or damaged."""
    raw = chance.randbytes(chance.randrange(10))
    text = chance.choice((base64.b64encode, base64.urlsafe_b64encode))(raw)
    if not chance.randrange(3):
        at = chance.randrange(len(text) + 1)
        text = (
            text[:at]
            + chance.choice((b"", b"=", b"\n", b"\r", b" ", b"-", b"+", b"\xff"))
            + text[at + chance.randrange(2) :]
        )
    return {
        "k": chance.choice((text, text, text, raw, words.text(chance).encode("utf-8", "surrogateescape")))
    }


def objects(chance: Random) -> dict[str, bytes]:
    """Keys with JSON objects, mostly."""
    return {chance.choice("abcd"): chance.choice(_OBJECTS) for _ in range(chance.randint(0, 4))}


def operations(chance: Random) -> list[dict[str, object]]:
    """Up to three rewrites of keys."""
    return [_operation(chance) for _ in range(chance.randint(1, 3))]


def _operation(chance: Random) -> dict[str, object]:
    kind = chance.randrange(3)
    if kind == 0:
        source = words.joined(chance, _SOURCES, 1, 2)
        return {"regexp": {"source": source, "target": chance.choice(_TARGETS)}}
    if kind == 1:
        return {"transform": {"template": chance.choice(_TRANSFORMS)}}
    merge: dict[str, object] = {
        "into": chance.choice(("", "all", "a")),
        "priorityPolicy": chance.choice(("Strict", "IgnoreNotFound")),
        "conflictPolicy": chance.choice(("Error", "Ignore")),
        "strategy": chance.choice(("Extract", "JSON")),
    }
    if chance.getrandbits(1):
        merge["priority"] = chance.sample("abcx", k=chance.randint(1, 3))
    return {"merge": merge}
