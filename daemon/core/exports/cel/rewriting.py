"""Rewrites the text of an expression into an equal one that the engine takes.

Three things that the authors of exports may write are not the engine's: chains of conditions and of sums that
are longer than its parser is deep, `optional.unwrap` and `unwrapOpt`, and the names of fields as Kubernetes
escapes them. Each has an equal form that it takes. The text is cut into tokens, and every pair of brackets is
rewritten when it closes: nothing here is recursive, since the author decides on the depth.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

MOST_TEXT: Final = 100_000
"""The engine takes no longer expression."""

_CHUNK: Final = 12
"""So many conditions or terms stay in one chain."""

_TOKEN: Final = re.compile(
    r"""(?P<space>\s++|//[^\n]*+)
    |(?P<text>(?:[rR][bB]?|[bB][rR])(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"[^"\n]*+"|'[^'\n]*+')
        |[bB]?(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*+"|'(?:\\.|[^'\\\n])*+'))
    |(?P<number>(?:0x[0-9a-fA-F]++|[0-9]++(?:\.[0-9]++)?+(?:[eE][-+]?+[0-9]++)?+)[uU]?+)
    |(?P<name>[A-Za-z_]\w*+|`[^`]*+`)
    |(?P<sign>&&|\|\||[<>=!]=|.)""",
    re.VERBOSE | re.DOTALL,
)
_PAIRS: Final = {"(": ")", "[": "]", "{": "}"}
_WEAKER: Final = frozenset({"?", ":", ",", "||", "&&", "<", "<=", ">", ">=", "==", "!=", "in"})
"""What binds less than a sum."""

_PRESENT: Final = ".filter(o, o.hasValue()).map(o, o.value())"

_ESCAPES: Final = {"__underscores__": "__", "__dot__": ".", "__dash__": "-", "__slash__": "/"}
_ESCAPE: Final = re.compile("|".join(_ESCAPES))
_RESERVED: Final = re.compile(r"__(true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|while)__")  # fmt: skip  # noqa: E501  # a list of words
_FIELD: Final = re.compile(r"\.\s*([A-Za-z_]\w*__\w*|__\w+__)")


class _Part(NamedTuple):
    """A token, or all that stands between two brackets, them included."""

    kind: str
    text: str


class _Frame:
    """What has been read since a bracket opened."""

    def __init__(self, opener: str) -> None:
        self.opener = opener
        self.parts: list[_Part] = []


def unescaped(name: str) -> str:
    """The name of the field that an escaped one stands for; the same where nothing is escaped."""
    reserved = _RESERVED.fullmatch(name)
    return reserved[1] if reserved else _ESCAPE.sub(lambda found: _ESCAPES[found[0]], name)


def escaped_names(source: str) -> frozenset[str]:
    """The selected names that may be escaped ones."""
    if "__" not in source:
        return frozenset()
    return frozenset(name for name in _FIELD.findall(source) if unescaped(name) != name)


def rewritten(source: str, escaped: Collection[str] = ()) -> str:
    """An equal expression; the fields in `escaped` are meant by their other names."""
    frames = [_Frame("")]
    for token in _TOKEN.finditer(source):
        kind, text = token.lastgroup or "sign", token[0]
        if kind == "space":
            continue
        frame = frames[-1]
        if kind == "sign" and text in _PAIRS:
            frames.append(_Frame(text))
        elif kind == "sign" and len(frames) > 1 and text == _PAIRS[frame.opener]:
            frames.pop()
            frames[-1].parts.append(_Part("group", frame.opener + _inside(frame, escaped) + text))
        else:
            frame.parts.append(_Part(kind, text))
    if len(frames) > 1:
        return source  # a bracket that nothing closes: the engine will say so
    return _inside(frames[0], escaped)


def _inside(frame: _Frame, escaped: Collection[str]) -> str:
    """What stands between two brackets, in its equal form."""
    parts = _with_fields(_without_unwrap(frame.parts), escaped)
    in_map = frame.opener == "{"
    return " , ".join(_element(each, in_map=in_map) for each in _split(parts, {","}))


def _split(parts: Sequence[_Part], signs: Collection[str]) -> list[list[_Part]]:
    """The parts between such signs."""
    found: list[list[_Part]] = [[]]
    for part in parts:
        if part.text in signs and part.kind in {"sign", "name"}:
            found.append([])
        else:
            found[-1].append(part)
    return found


def _element(parts: list[_Part], *, in_map: bool) -> str:
    """One element of a list, one argument, or one entry of a map."""
    mark = ""
    if parts and parts[0] == ("sign", "?"):
        mark, parts = "?", parts[1:]
    if in_map:
        place = _colon(parts)
        if place is not None:
            return f"{mark}{_condition(parts[:place])} : {_condition(parts[place + 1 :])}"
    return mark + _condition(parts)


def _colon(parts: Sequence[_Part]) -> int | None:
    """Where the key of an entry ends: at the colon that belongs to no condition."""
    open_conditions = 0
    for place, part in enumerate(parts):
        if part.kind == "sign" and part.text == "?" and not _is_optional(parts, place):
            open_conditions += 1
        elif part.kind == "sign" and part.text == ":":
            if not open_conditions:
                return place
            open_conditions -= 1
    return None


def _is_optional(parts: Sequence[_Part], place: int) -> bool:
    return place > 0 and parts[place - 1] == ("sign", ".")


def _condition(parts: Sequence[_Part]) -> str:
    """`a ? x : b ? y : z`, as a tree where it is a long chain."""
    signs = [
        (place, part.text)
        for place, part in enumerate(parts)
        if part.kind == "sign" and part.text in "?:" and not _is_optional(parts, place)
    ]
    alternate = all(sign == "?:"[number % 2] for number, (_, sign) in enumerate(signs))
    if len(signs) % 2 or not alternate:
        return _text(parts)  # no condition at all, as the engine will say
    places = [place for place, _ in signs]
    cuts = [
        _sums(parts[start + 1 : end]) for start, end in zip([-1, *places], [*places, len(parts)], strict=True)
    ]
    return _chain(list(zip(cuts[0::2], cuts[1::2], strict=False)), cuts[-1])


def _chain(cases: Sequence[tuple[str, str]], otherwise: str) -> str:
    """Conditions in a row. One that fails makes the whole fail in both forms, unless one before it holds."""
    if len(cases) <= _CHUNK:
        return "".join(f"{condition} ? {value} : " for condition, value in cases) + otherwise
    chunks = [cases[start : start + _CHUNK] for start in range(0, len(cases), _CHUNK)]
    trees = [
        (" || ".join(condition for condition, _ in chunk), f"({_chain(chunk[:-1], chunk[-1][1])})")
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


def _sums(parts: Sequence[_Part]) -> str:
    """A long sum of texts in brackets of a few terms: it is the same text in any grouping."""
    found: list[str] = []
    term: list[_Part] = []
    for part in [*parts, None]:
        if part is not None and (part.kind not in {"sign", "name"} or part.text not in _WEAKER):
            term.append(part)
            continue
        found.append(_sum(term))
        term = []
        if part is not None:
            found.append(part.text)
    return " ".join(found)


def _sum(parts: Sequence[_Part]) -> str:
    terms = _split(parts, {"+"})
    is_text = any(len(term) == 1 and term[0].kind == "text" and term[0].text[0] not in "bB" for term in terms)
    if len(terms) <= _CHUNK or not is_text or any(part == ("sign", "-") for part in parts):
        return _text(parts)
    texts = [_text(term) for term in terms]
    while len(texts) > _CHUNK:
        texts = [f"({' + '.join(texts[start : start + _CHUNK])})" for start in range(0, len(texts), _CHUNK)]
    return " + ".join(texts)


def _text(parts: Sequence[_Part]) -> str:
    return " ".join(part.text for part in parts)


def _without_unwrap(parts: Sequence[_Part]) -> list[_Part]:
    """The parts with the two functions that unwrap lists of optional values in their long form."""
    found: list[_Part] = []
    for part in parts:
        found.append(part)
        if part.kind == "group" and _ends(found, ".", "unwrapOpt", "()"):
            found[-3:] = [_Part("group", _PRESENT)]
        elif part.kind == "group" and _ends(found, "optional", ".", "unwrap", part.text):
            is_field = _ends(found[:-4], ".")
            if not is_field:
                found[-4:] = [_Part("group", part.text), _Part("group", _PRESENT)]
    return found


def _ends(parts: Sequence[_Part], *texts: str) -> bool:
    return [part.text for part in parts[-len(texts) :]] == list(texts)


def _with_fields(parts: Sequence[_Part], escaped: Collection[str]) -> list[_Part]:
    """The parts with escaped names of fields as they are; the names of secrets are never escaped."""
    if not escaped:
        return list(parts)
    found: list[_Part] = []
    for place, part in enumerate(parts):
        is_call = place + 1 < len(parts) and parts[place + 1].text.startswith("(")
        is_field = _ends(found, ".") or _ends(found, ".", "?")
        of_secret = any(
            _ends(found, name, *sign) for name in ("secret", "secrets") for sign in ((".",), (".", "?"))
        )
        if part.kind == "name" and part.text in escaped and is_field and not is_call and not of_secret:
            found.append(_Part("name", f"`{unescaped(part.text)}`"))
        else:
            found.append(part)
    return found
