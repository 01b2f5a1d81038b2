"""The parts of an expression between two brackets: tokens, and what stands in brackets of its own."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

CHUNK: Final = 12
"""So many conditions, terms or fields stay in one chain."""

_BRACKETS: Final = frozenset({"group", "arguments"})


class Part(NamedTuple):
    """A token, or all that stands between two brackets, them included."""

    kind: str
    text: str


def split(parts: Sequence[Part], signs: Collection[str]) -> list[list[Part]]:
    """The parts between such signs."""
    found: list[list[Part]] = [[]]
    for part in parts:
        if part.text in signs and part.kind in {"sign", "name"}:
            found.append([])
        else:
            found[-1].append(part)
    return found


def colon(parts: Sequence[Part]) -> int | None:
    """The position at which the key of an entry ends: the colon that belongs to no condition."""
    open_conditions = 0
    for place, part in enumerate(parts):
        if part.kind == "sign" and part.text == "?" and not is_optional(parts, place):
            open_conditions += 1
        elif part.kind == "sign" and part.text == ":":
            if not open_conditions:
                return place
            open_conditions -= 1
    return None


def is_optional(parts: Sequence[Part], place: int) -> bool:
    return place > 0 and parts[place - 1] == ("sign", ".")


def split_terms(parts: Sequence[Part]) -> list[tuple[str, list[Part]]]:
    """The terms of a sum, each with the sign before it; a sign that stands before a value alone is a part."""
    found: list[tuple[str, list[Part]]] = [("", [])]
    for part in parts:
        before = found[-1][1]
        if part.kind == "sign" and part.text in "+-" and before and before[-1].kind != "sign":
            found.append((part.text, []))
        else:
            before.append(part)
    return found


def added(terms: Sequence[tuple[str, str]]) -> str:
    return " ".join(f"{sign} {text}" if sign else text for sign, text in terms)


def split_links(parts: Sequence[Part], place: int) -> tuple[list[str], int]:
    """A value, and each field, index and call that follows it, as texts; and where they end."""
    links: list[str] = []
    link: list[str] = []
    while place < len(parts):
        kind, text = parts[place]
        begins = text == "." if kind == "sign" else text[0] in "[."
        continues = not link or link[-1] in {".", "?"} or (kind in _BRACKETS and text[0] in "({")
        if kind == "sign" and not begins and not (text == "?" and link[-1:] == ["."]):
            break
        if begins and link and (link != ["."] or kind != "name"):
            links.append(" ".join(link))
            link = []
        elif not continues and not begins and text != "?":
            break
        link.append(text)
        place += 1
    return [*links, " ".join(link)], place


def chain(cases: Sequence[tuple[str, str]], otherwise: str) -> str:
    """Conditions in a row. One that fails makes the whole fail in both forms, unless one before it holds."""
    if len(cases) <= CHUNK:
        return "".join(f"{condition} ? {value} : " for condition, value in cases) + otherwise
    chunks = [cases[start : start + CHUNK] for start in range(0, len(cases), CHUNK)]
    trees = [
        (" || ".join(condition for condition, _ in chunk), f"({chain(chunk[:-1], chunk[-1][1])})")
        for chunk in chunks
    ]
    while len(trees) > 1:  # from the end, by pairs: the depth grows with the logarithm
        trees = [*_joined(trees)]
    condition, tree = trees[0]
    return f"({condition}) ? {tree} : {otherwise}"


def _joined(trees: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for place in range(0, len(trees), 2):
        pair = trees[place : place + 2]
        if len(pair) == 1:
            yield pair[0]
        else:
            (first, tree), (second, other) = pair
            yield f"{first} || {second}", f"(({first}) ? {tree} : {other})"


def text_of(parts: Sequence[Part]) -> str:
    return " ".join(part.text for part in parts)
