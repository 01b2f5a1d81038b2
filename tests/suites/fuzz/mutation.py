"""Makes bad input out of good: pieces of text lost, doubled, swapped, and strange ones put in."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Final, TypeAlias, cast

from syncret.config.fields import Json

Path: TypeAlias = tuple[str | int, ...]

_STRANGE: Final = (
    "\x00", "\ufeff", "\u2028", "\udcff", "\U0001f600", "é", "\t", "\n", "\r", "---", "...", "&a ", "*a",
    "!!binary ", "{{", "}}", "{{-", "-}}", "(", ")", "[", "]", "{", "}", "|", ":=", "=", ",", ".", "$", "$x",
    '"', "`", "'", "\\", "#", "range", "end", "define", "template", "block", "1e999", "9" * 40, "0x",
    "1" * 400, "%", "%*d", "@reverse", "?", "*",
)  # fmt: skip
_LEAVES: Final[tuple[Json, ...]] = (
    None, True, False, 0, -1, 1.5, 2**63, float("nan"), "", "x", "a/b", "1d", "\ud800", "é" * 300, [], {},
    [1], {"name": "x"}, ["a"], {"a": None}, [None], "http://x", "https://[", "-----BEGIN", "%zz", "10s", "0",
)  # fmt: skip
_MOST_REPEATED: Final = 3000


def text(chance: Random, seeds: Sequence[str]) -> str:
    """One of the seeds after a few accidents."""
    made = chance.choice(seeds)
    for _ in range(chance.choice((0, 1, 1, 2, 3, 5))):
        made = _accident(chance, made, seeds)
    return made


def _accident(chance: Random, made: str, seeds: Sequence[str]) -> str:
    start = chance.randrange(len(made) + 1)
    end = min(len(made), start + chance.choice((0, 1, 2, 5, 20)))
    match chance.randrange(6):
        case 0:
            middle = ""
        case 1:
            middle = made[start:end] * chance.choice((2, 3, 50))
        case 2:
            middle = chance.choice(_STRANGE) * (
                chance.randrange(_MOST_REPEATED) if not chance.randrange(20) else 1
            )
        case 3:
            middle = "".join(chance.sample(made[start:end], end - start))
        case 4:
            other = chance.choice(seeds)
            middle = other[chance.randrange(len(other) + 1) :]
        case _:
            middle = chr(chance.choice((chance.randrange(128), chance.randrange(0xD7FF))))
    return made[:start] + middle + made[end:]


def document(chance: Random, seeds: Sequence[Json]) -> Json:
    """One of the documents with a few values replaced by strange ones."""
    made = copy.deepcopy(chance.choice(seeds))
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        places = list(_places(made))
        if places:
            _put(made, chance.choice(places), copy.deepcopy(chance.choice(_LEAVES)))
    return made


def _places(value: Json, above: Path = ()) -> Iterator[Path]:
    members: Iterable[tuple[str | int, Json]] = ()
    if isinstance(value, dict):
        members = cast("dict[str | int, Json]", value).items()
    elif isinstance(value, list):
        members = enumerate(cast("Sequence[Json]", value))
    for step, member in members:
        yield (*above, step)
        yield from _places(member, (*above, step))


def _put(value: Json, place: Path, leaf: Json) -> None:
    for step in place[:-1]:
        value = cast("dict[str | int, Json]", value)[step]
    cast("dict[str | int, Json]", value)[place[-1]] = leaf
