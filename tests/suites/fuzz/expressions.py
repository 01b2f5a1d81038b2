"""Expressions of dynamic exports: grown from a grammar, damaged, and evaluated where the daemon does it."""

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any, Final

from syncret.config.meta import Document
from syncret.daemon.core.exports.cel.rewriting import escaped_names, rewritten
from syncret.daemon.core.exports.export import export
from syncret.daemon.engine.work import WorkLimits, WorkThreads
from tests.suites.fuzz import mutation
from tests.support.canary import CANARY, leaks

_RESOURCE: Final[Document] = {
    "metadata": {"name": "r", "annotations": {"a/b": "1", "c": "2"}},
    "s": "text",
    "long": "a" * 3000,
    "i": 7,
    "d": 2.5,
    "n": None,
    "l": [1, 2, 3],
    "many": list(range(300)),
    "m": {"k": "v", "a-b": "w", "in": "x"},
    "id": "/subscriptions/1/resourceGroups/g/providers/A.B/c/d",
}
_SECRETS: Final = {"a": CANARY, "b": f"{CANARY}(", "c": "7", "m.n": CANARY}
_LEAVES: Final = (
    *(
        "self.s",
        "resource.i",
        "self.d",
        "self.n",
        "self.l",
        "self.m",
        "self.id",
        "self.long",
        "self.many",
        "self",
    ),
    *("secret.a", "secrets.b", "secret['c']", "secret", "secret.?a", "secrets[?'x']", ".secret.a", "x", "y"),
    *(
        "'a'",
        '"%s"',
        "r'\\d'",
        "b'z'",
        "1",
        "-1",
        "2u",
        "0.5",
        "true",
        "null",
        "[]",
        "{}",
        "''",
        "'('",
        "1e308",
    ),
    *("self.m.a__dash__b", "self.m.__in__", "self.`a-b`", "9223372036854775807"),
)
_UNARY: Final = (
    *(
        "-{}",
        "!{}",
        "({})",
        "string({})",
        "int({})",
        "double({})",
        "timestamp({})",
        "duration({})",
        "type({})",
    ),
    *(
        "dyn({})",
        "size({})",
        "bytes({})",
        "{}.s",
        "{}.?k",
        "has({}.k)",
        "{}.reverse()",
        "{}.size()",
        "{}.first()",
    ),
    *(
        "optional.of({})",
        "{}.value()",
        "{}.hasValue()",
        "optional.unwrap({})",
        "{}.unwrapOpt()",
        "base64.encode({})",
    ),
    *(
        "base64.decode({})",
        "aso.parseResourceId({}).name",
        "{}.upperAscii()",
        "{}.getHours()",
        "[{}]",
        "{{'k': {}}}",
    ),
)
_BINARY: Final = (
    *("{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} % {}", "{} == {}", "{} < {}", "{} && {}", "{} || {}"),
    *(
        "{} in {}",
        "{}[{}]",
        "{}[?{}]",
        "{}.map(x, {})",
        "{}.filter(x, {})",
        "{}.all(x, {})",
        "{}.exists_one(x, {})",
    ),
    *(
        "{}.transformMap(x, y, {})",
        "{}.transformMapEntry(x, y, {})",
        "{}.transformList(x, y, {})",
        "{}.format([{}])",
    ),
    *(
        "{}.orValue({})",
        "{}.or({})",
        "{}.optMap(x, {})",
        "{}.replace('a', {})",
        "{}.split({})",
        "{}.join({})",
    ),
    *(
        "{}.matches({})",
        "{}.charAt({})",
        "{}.substring({})",
        "{}.indexOf({})",
        "[{}, ?{}]",
        "{{{}: {}}}",
        "{}.getHours({})",
    ),
)
_TERNARY: Final = ("{} ? {} : {}", "{}.map(x, {}, {})", "{}.replace({}, {})", "{{{}: {}, 'z': {}}}")
_CHAINS: Final = (" + {}", " ? 'v' : {}", ".replace('a', {})", " || {}", ".map(x, x + {})", "[{}]")


def _grown(chance: Random, depth: int) -> str:
    if not depth:
        return chance.choice(_LEAVES)
    form = chance.choice(chance.choice((_UNARY, _UNARY, _BINARY, _BINARY, _TERNARY, _LEAVES)))
    if form in _LEAVES:
        return form
    grown = form.format(*[_grown(chance, depth - 1) for _ in range(form.count("{}"))])
    if not chance.randrange(12):
        grown += chance.choice(_CHAINS).format(_grown(chance, 0)) * chance.randrange(1, 60)
    return grown


def make(chance: Random) -> list[Any]:
    """Whether it is for a Secret, and one to four entries of expressions."""
    seeds = [_grown(chance, chance.randrange(7)) for _ in range(4)]
    fields = ("value", "valueMap")
    return [
        bool(chance.randrange(5)),
        [
            [
                chance.choice(fields),
                mutation.text(chance, seeds) if not chance.randrange(3) else chance.choice(seeds),
            ]
            for _ in range(chance.randrange(1, 5))
        ],
    ]


@cache
def _threads() -> WorkThreads:
    return WorkThreads(WorkLimits(call=10.0))


def give(case: Sequence[Any]) -> None:
    """Evaluate them; what is told of failures has no value, and there are objects or problems."""
    for_secret, written = case
    entries = [
        {"name": "o", field: source, **({"key": f"k{number}"} if field == "value" else {})}
        for number, (field, source) in enumerate(written)
    ]
    for _, source in written:
        rewritten(source, escaped_names(source))
    spec = {"operatorSpec": {"dynamicSecrets" if for_secret else "dynamicConfigMaps": entries}}
    found = export({**_RESOURCE, "spec": spec}, _SECRETS, _threads().new_work())
    assert bool(found.made) != bool(found.problems)
    told = leaks("problems", repr(found.problems))
    assert not told, told
    if not for_secret:
        told = leaks("objects", repr([made.data for made in found.made]))
        assert not told, told
        assert not found.hints
