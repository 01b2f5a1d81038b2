"""Expressions and fields of manifests, made by their grammar: most are nearly right."""

import copy
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final

from bench.typical import GROUPS
from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from syncret.daemon.core.templating import operator
from tests.suites.fuzz import mutation
from tests.suites.oracle.cases import paths
from tests.suites.oracle.cases.calls import Calls
from tests.suites.oracle.cases.frames import framed
from tests.suites.oracle.cases.templates import Templates
from tests.support.canary import CANARY

Make = Callable[[Random], str]

NAMES: Final = tuple(sorted(operator.FUNCTIONS.table))
TYPICAL: Final = tuple(text for texts in GROUPS.values() for text in texts)
VALUES: Final = (
    CANARY,
    f'{{"a": "{CANARY}", "k": {{"x": ["{CANARY}"]}}, "items": [{{"name": "{CANARY}"}}]}}',
    f'["{CANARY}"]',
    f'{{"a": "{CANARY}"',
)
"""What stores hold."""

_JSONPATH: Final = (
    "$", "$", ".", "..", "[", "]", "[*]", "*", "?", "[?(", ")]", "(", ")", "@", "@.a", "==", "!=", "0", "-1",
    ":", ",", "'a'", '"k"', "a", "k", "items", "name", "[0]", "[0,0]", "[0:2]", "[::1]", "[-1:]",
    "length", "1e9", "+", "-",
)  # fmt: skip
_REGEXP: Final = (
    "a", "k", ".", "*", "+", "?", "(", ")", "[", "]", "[a-z]", "[^a]", r"\pL", r"\b", r"\B", "^", "$", "|",
    "{2}", "{500}", "{0,1000}", "(?i)", "(?P<n>", "(?:", r"\Q", r"\E", r"\C", "\\", "é", "\u202e",
)  # fmt: skip
_EXPANSION: Final = ("$1", "${1}", "$0", "${0}${0}", "$n", "$$", "$", "x", "{", "}", "é", "")
_DURATIONS: Final = (
    "1s",
    "1h",
    "0",
    "0s",
    "1ns",
    "-1h",
    "1.5m",
    "2562047h47m16.854775807s",
    "1e9h",
    "h",
    "",
    "99999h",
    "1h" * 50,
)
_SCHEDULES: Final = (
    "* * * * *",
    "0 0 31 2 *",
    "@every 1s",
    "@every 0s",
    "@daily",
    "*/7 1-5 * jan-dec mon",
    "59 23 * * 7",
    "@every 9999999h",
)


def jsonpath(chance: Random) -> str:
    """A JSONPath."""
    return "$" + "".join(chance.choices(_JSONPATH, k=chance.randint(0, 12)))


def regexp(chance: Random) -> str:
    """A regular expression."""
    return "".join(chance.choices(_REGEXP, k=chance.randint(0, 10)))


def template(chance: Random) -> str:
    """A template of an output, damaged or not."""
    name = chance.choice(NAMES)
    call = framed(name, Calls(operator.FUNCTIONS.table, chance).call(name), chance)
    return mutation.text(chance, (call, Templates(chance).template(), chance.choice(TYPICAL)))


def _of(*choices: str) -> Make:
    return lambda chance: mutation.text(chance, choices)


def _expansion(chance: Random) -> str:
    return "".join(chance.choices(_EXPANSION, k=chance.randint(0, 6)))


FIELDS: Final[Mapping[str, Make]] = {
    "property": paths.path,
    "jsonPath": jsonpath,
    "regexp": regexp,
    "source": regexp,
    "target": _expansion,
    "template": template,
    "url": lambda chance: "http://127.0.0.1:9/" + template(chance),
    "body": template,
    "literal": template,
    "refreshInterval": _of(*_DURATIONS),
    "refreshTime": _of(*_DURATIONS),
    "timeout": _of(*_DURATIONS),
    "duration": _of(*_DURATIONS),
    "schedule": _of(*_SCHEDULES),
    "secretKey": _of("k", "a.b", "../x", "..", "k" * 254, "\u202e", "é"),
    "into": _of("k", "", "a"),
    "path": _of("a", "/", "a/", ".."),
    "version": _of("1", "v1", "-1", "9" * 40),
    "conversionStrategy": _of("Default", "Unicode"),
    "decodingStrategy": _of("Auto", "Base64", "Base64URL", "None"),
    "strategy": _of("JSON", "Extract"),
}
"""What may stand in a field of that name, wherever it is."""

_TEXTS: Final = ("data", "labels", "annotations", "headers")
"""Maps of templates."""

_VALUES: Final = ("value", "stringData")


def damaged(chance: Random, documents: Sequence[Json]) -> list[Json]:
    """Documents of one manifest, some of whose fields have other texts, and some strange ones."""
    made = [copy.deepcopy(each) for each in documents]
    for each in made:
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            _rewrite(chance, each)
    if not chance.randrange(3):
        place = chance.randrange(len(made))
        made[place] = mutation.document(chance, [made[place]])
    if not chance.randrange(4):
        made.append(copy.deepcopy(chance.choice(made)))
    return made


def _rewrite(chance: Random, document: Json) -> None:
    """One field that a grammar makes gets another text."""
    if found := _places(document):
        holder, key, make = chance.choice(found)
        holder[key] = make(chance)


def _places(value: Json, name: str = "") -> "list[tuple[dict[str, Json], str, Make]]":
    found: list[tuple[dict[str, Json], str, Make]] = []
    if is_object(value):
        for key, member in value.items():
            make = (
                template
                if name in _TEXTS
                else _value
                if name in _VALUES or key in _VALUES
                else FIELDS.get(key)
            )
            if make is not None and isinstance(member, str):
                found.append((value, key, make))
            found += _places(member, key)
    elif is_list(value):
        for member in value:
            found += _places(member, name)
    return found


def _value(chance: Random) -> str:
    return chance.choice(VALUES)
