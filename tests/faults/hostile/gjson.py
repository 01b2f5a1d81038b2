"""Properties: gjson paths into one value."""

import json
from typing import Final

from tests.faults.hostile.manifests import (
    LIMITS,
    MIB,
    End,
    Hostile,
    external,
    extract,
    fake,
    many,
    read,
    same,
    webhook,
    written,
)


def _paths(
    name: str,
    tried: str,
    value: str,
    *paths: str,
    says: str = f"{LIMITS}|does not exist",
    end: End = "not ready",
    quick: bool = False,
) -> Hostile:
    """One value, of which these properties are read."""
    reads = [read(property=path, to=f"k{number}") for number, path in enumerate(paths)]
    manifest = same(fake({"k": value}), external(data=reads))
    return Hostile(name=name, tried=tried, manifest=manifest, says=says, end=end, quick=quick)


def _of_answer(name: str, tried: str, body: str, path: str, says: str = LIMITS) -> Hostile:
    """One property of a large answer."""

    def manifest(url: str) -> str:
        return written(webhook(f"{url}/body/{body}"), external(data=[read(property=path)]))

    return Hostile(name=name, tried=tried, manifest=manifest, says=says)


def _value(size: int) -> str:
    return json.dumps({"items": [{"name": "a" * 20, "n": n} for n in range(size // 40)]})


def _glob(size: int, pattern: int) -> tuple[str, str]:
    return json.dumps({"a" * size: "v"}), "*" + "a" * pattern + "b"


NESTED: Final = "{a:" * 90 + "@this" + "}" * 90
DOUBLED: Final = "|".join(["[@this,@this]"] * 40)

CASES: Final = (
    _paths("gjson-glob", "a pattern `*aaa..b` on a long key", *_glob(20_000, 9_000), quick=True),
    _paths("gjson-glob-long", "the same, ten times as long", *_glob(200_000, 93_000)),
    _paths(
        "gjson-glob-many",
        "100 properties of 900 characters each",
        _glob(8_000, 1)[0],
        *("*" + "a" * 900 + f"b{n}" for n in range(100)),
    ),
    _paths("gjson-reverse", "`@reverse` 40 times on 2.7 MB", _value(2_700_000), "|".join(["@reverse"] * 40)),
    _paths(
        "gjson-reverse-many",
        "200 properties of 20 `@reverse` each",
        _value(200_000),
        *("|".join(["@reverse"] * 20) + f"|items.{n}.name" for n in range(200)),
    ),
    _paths("gjson-pretty", "`@pretty|@ugly` 60 times", _value(400_000), "|".join(["@pretty|@ugly"] * 60)),
    _paths(
        "gjson-selectors",
        "90,000 selectors in one property",
        '{"a": 1}',
        "[" + ",".join(["a"] * 90_000) + "]",
    ),
    _paths(
        "gjson-doubled", "each of 40 steps doubles the document", '{"a": "aaaaaaaa"}', DOUBLED, quick=True
    ),
    _paths(
        "gjson-nested",
        "selectors nested as deep as may be, 100 times",
        _value(20_000),
        *(NESTED + f"|a.items.{n}" for n in range(100)),
    ),
    _paths(
        "gjson-quoted",
        "`@tostr` 40 times: each doubles what must be escaped",
        '"\\""',
        "|".join(["@tostr"] * 40),
        says=f"{LIMITS}|too much|key|exist|found",
    ),
    _paths(
        "gjson-queries",
        "queries within queries, with a pattern in each",
        _value(400_000),
        'items.#(name%"*a*a*a*a*a*a*a*b")#|#(name%"*a*a*a*a*b")#.name',
        says=f"{LIMITS}|exist|found",
        end="any",
    ),
    _of_answer(
        "gjson-deep",
        "a document of 4 million brackets",
        "nested/4000000",
        "0.0.0|@pretty",
        says=f"{LIMITS}|too deep|JSON|larger|exist|found|at most",
    ),
    _of_answer(
        "gjson-flatten",
        "`@flatten` with `deep` on 2 MB of empty lists",
        "empty/700000",
        '@flatten:{"deep":true}|@flatten|@values|@join|@keys',
        says=f"{LIMITS}|larger|exist|found|at most",
    ),
    Hostile(
        name="gjson-indent",
        tried="`@pretty` with an indentation of 100,000 characters",
        manifest=many(
            lambda: (
                fake({"k": _value(40_000)}),
                external(data=[read(property='@pretty:{"indent":"' + " " * 100_000 + '"}')]),
            )
        ),
        says=LIMITS,
    ),
    Hostile(
        name="gjson-everywhere",
        tried="3,000 entries, each a property of one value of 1 MiB",
        manifest=many(
            lambda: (
                fake({"k": _value(MIB)}),
                external(data=[read(property=f"items.{20_000 + n}.name", to=f"k{n}") for n in range(3000)]),
            )
        ),
        says=LIMITS,
    ),
    Hostile(
        name="gjson-extract",
        tried="`extract` with a property that doubles the document",
        manifest=many(lambda: (fake({"k": _value(20_000)}), external(data_from=[extract(property=DOUBLED)]))),
        says=LIMITS,
    ),
)
