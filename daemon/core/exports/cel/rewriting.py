"""Rewrites the text of an expression into an equal one that the engine takes.

The engine lacks three things that authors of exports may write: chains (of conditions, terms, fields, calls)
that are longer than its parser is deep, `optional.unwrap` and `unwrapOpt`, and the names of fields as
Kubernetes escapes them. Each has an equal form that it takes. The text is cut into tokens, and every pair of
brackets is rewritten when it closes: nothing here is recursive, since the author decides on the depth.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

from syncret.daemon.core.exports.cel.parts import (
    CHUNK,
    Part,
    added,
    chain,
    colon,
    is_optional,
    split,
    split_links,
    split_terms,
    text_of,
)

MOST_TEXT: Final = 100_000
"""The engine takes no longer expression."""

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
"""Operators that bind less than a sum."""

_PRESENT: Final = ".filter(o, o.hasValue()).map(o, o.value())"

_ESCAPES: Final = {"__underscores__": "__", "__dot__": ".", "__dash__": "-", "__slash__": "/"}
_ESCAPE: Final = re.compile("|".join(_ESCAPES))
_RESERVED: Final = re.compile(r"__(true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|while)__")  # fmt: skip  # noqa: E501  # a list of words
_FIELD: Final = re.compile(r"\.\s*([A-Za-z_]\w*__\w*|__\w+__)")


class _Frame:
    """The tokens since a bracket opened."""

    def __init__(self, opener: str) -> None:
        self.opener = opener
        self.parts: list[Part] = []


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
    """An equal expression; the fields in `escaped` are meant by their other names.

    The same expression where there is none of a length that the engine takes.
    """
    try:
        return _Rewriting(source, escaped).result()
    except _TooLongError:
        return source


class _TooLongError(Exception):
    """The equal form is longer than the engine takes: conditions are repeated in it."""


class _Rewriting:
    """One expression on its way to another form."""

    def __init__(self, source: str, escaped: Collection[str]) -> None:
        self._source = source
        self._escaped = escaped
        self._variable = "x"
        while self._variable in source:
            self._variable += "x"

    def result(self) -> str:
        frames = [_Frame("")]
        for token in _TOKEN.finditer(self._source):
            kind, text = token.lastgroup or "sign", token[0]
            if kind == "space":
                continue
            frame = frames[-1]
            if kind == "sign" and text in _PAIRS:
                frames.append(_Frame(text))
            elif kind == "sign" and len(frames) > 1 and text == _PAIRS[frame.opener]:
                frames.pop()
                frames[-1].parts.append(self._closed(frame))
            else:
                frame.parts.append(Part(kind, text))
        if len(frames) > 1:
            return self._source  # a bracket that nothing closes: the engine will say so
        return self._inside(frames[0])

    def _closed(self, frame: _Frame) -> Part:
        """Two brackets and what is in them; a second pair around one value says nothing."""
        parts = frame.parts
        if frame.opener == "(" and len(parts) == 1 and parts[0].kind == "group" and parts[0].text[0] == "(":
            return parts[0]
        kind = "arguments" if ("sign", ",") in parts else "group"
        return Part(kind, frame.opener + self._inside(frame) + _PAIRS[frame.opener])

    def _inside(self, frame: _Frame) -> str:
        """The content of two brackets, in its equal form."""
        parts = _with_fields(_without_unwrap(frame.parts), self._escaped)
        in_map = frame.opener == "{"
        text = " , ".join(self._element(each, in_map=in_map) for each in split(parts, {","}))
        if len(text) > MOST_TEXT:
            raise _TooLongError
        return text

    def _element(self, parts: list[Part], *, in_map: bool) -> str:
        """One element of a list, one argument, or one entry of a map."""
        mark = ""
        if parts and parts[0] == ("sign", "?"):
            mark, parts = "?", parts[1:]
        place = colon(parts) if in_map else None
        if place is not None:
            return f"{mark}{self._condition(parts[:place])} : {self._condition(parts[place + 1 :])}"
        return mark + self._condition(parts)

    def _condition(self, parts: Sequence[Part]) -> str:
        """`a ? x : b ? y : z`, as a tree where it is a long chain."""
        signs = [
            (place, part.text)
            for place, part in enumerate(parts)
            if part.kind == "sign" and part.text in "?:" and not is_optional(parts, place)
        ]
        alternate = all(sign == "?:"[number % 2] for number, (_, sign) in enumerate(signs))
        if len(signs) % 2 or not alternate:
            return text_of(parts)  # no condition at all, as the engine will say
        places = [place for place, _ in signs]
        cuts = [
            self._sums(parts[start + 1 : end])
            for start, end in zip([-1, *places], [*places, len(parts)], strict=True)
        ]
        return chain(list(zip(cuts[0::2], cuts[1::2], strict=False)), cuts[-1])

    def _sums(self, parts: Sequence[Part]) -> str:
        """The sums between what binds less than they do."""
        found: list[str] = []
        term: list[Part] = []
        for part in [*parts, None]:
            if part is not None and (part.kind not in {"sign", "name"} or part.text not in _WEAKER):
                term.append(part)
                continue
            if part is not None and term and term[-1] == ("sign", "."):  # `.?name`, `.in`
                term.append(part)
                continue
            found.append(self._sum(term))
            term = []
            if part is not None:
                found.append(part.text)
        return " ".join(found)

    def _sum(self, parts: Sequence[Part]) -> str:
        terms = split_terms(parts)
        texts = [(sign, self._operands(term)) for sign, term in terms]
        if len(terms) <= CHUNK:
            return added(texts)
        return self._in_turn(
            added(texts[:CHUNK]),
            [added(texts[at : at + CHUNK]) for at in range(CHUNK, len(texts), CHUNK)],
        )

    def _operands(self, parts: Sequence[Part]) -> str:
        """A term, with the long chains of fields and calls in it."""
        found: list[str] = []
        place = 0
        while place < len(parts):
            if parts[place].kind == "sign" and parts[place].text != ".":
                found.append(parts[place].text)
                place += 1
                continue
            links, place = split_links(parts, place)
            found.append(self._linked(links))
        return " ".join(found)

    def _linked(self, links: Sequence[str]) -> str:
        """A value with its fields, indexes and calls. The last one stays where it is: has() asks for it."""
        if len(links) <= CHUNK:
            return " ".join(links)
        steps = [
            " ".join(links[at : min(at + CHUNK, len(links) - 1)]) for at in range(0, len(links) - 1, CHUNK)
        ]
        return f"{self._in_turn(steps[0], steps[1:])} {links[-1]}"

    def _in_turn(self, first: str, steps: Sequence[str]) -> str:
        """A value to which one step after the other is done, each with the result of the one before.

        The macro's variable is that result, so that the order, and what fails, are the same.
        """
        name = self._variable
        return f"[{first}]{''.join(f'.map({name}, {name} {step})' for step in steps)}[0]" if steps else first


def _without_unwrap(parts: Sequence[Part]) -> list[Part]:
    """The parts with the two functions that unwrap lists of optional values in their long form."""
    found: list[Part] = []
    for part in parts:
        found.append(part)
        if part.kind == "group" and _ends(found, ".", "unwrapOpt", "()"):
            found[-3:] = [Part("group", _PRESENT)]
        elif part.kind == "group" and _ends(found, "optional", ".", "unwrap", part.text):
            is_field = _ends(found[:-4], ".")
            if not is_field:
                found[-4:] = [Part("group", part.text), Part("group", _PRESENT)]
    return found


def _ends(parts: Sequence[Part], *texts: str) -> bool:
    return [part.text for part in parts[-len(texts) :]] == list(texts)


def _with_fields(parts: Sequence[Part], escaped: Collection[str]) -> list[Part]:
    """The parts with escaped names of fields as they are; the names of secrets are never escaped."""
    if not escaped:
        return list(parts)
    found: list[Part] = []
    for place, part in enumerate(parts):
        is_call = place + 1 < len(parts) and parts[place + 1].text.startswith("(")
        is_field = _ends(found, ".") or _ends(found, ".", "?")
        of_secret = any(
            _ends(found, name, *sign) for name in ("secret", "secrets") for sign in ((".",), (".", "?"))
        )
        if part.kind == "name" and part.text in escaped and is_field and not is_call and not of_secret:
            found.append(Part("name", f"`{unescaped(part.text)}`"))
        else:
            found.append(part)
    return found
