"""Reads YAML as Kubernetes does, into JSON: version 1.1, where `n` and `on` are booleans, also as keys."""

import math
import re
from typing import Final, cast

import yaml
from yaml._yaml import CParser
from yaml.reader import ReaderError
from yaml.scanner import ScannerError

from syncret.config.text.yaml_scalars import float_key
from syncret.daemon.core.templating.functions.data.casts import parse_float, parse_literal
from syncret.daemon.core.templating.functions.text.encoding import BadEncoding, decode_base64
from syncret.daemon.core.templating.functions.text.layout import has_stray_bytes, runes
from syncret.daemon.core.templating.functions.time.instants import UTC
from syncret.daemon.core.templating.functions.time.parsing import parse_time
from syncret.daemon.core.templating.golang.budget import Budget
from syncret.daemon.core.templating.golang.values import Value, text_of

_TAG: Final = "tag:yaml.org,2002:"
_PLAIN: Final = ""
_MERGE: Final = "<<"
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "bool": (bool,),
    "float": (float,),
    "int": (int,),
    "null": (type(None),),
}
_SLASH: Final = re.compile(r'"(?:[^\\]|\\[^/])*\\/')
"""A quoted text with the escape `\\/`, which JSON has and Go's YAML parser refuses."""

_UNKNOWN_ESCAPE: Final = "found unknown escape character"
_MOST_LEVELS: Final = 100
_OPENERS: Final = ("[", "{", "- ", "-\t", "? ", "?\t")
_SUSPICIOUS: Final = 1000
_NODE_SIZE: Final = 60
_CHARACTER_SIZE: Final = 2
_SHARE: Final = 8
"""A scalar costs a unit for each 256 characters (2 to the 8th), each time an alias repeats it."""

_WORDS: Final[dict[str, Value]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASE60: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_LEAST: Final = -(1 << 63)
_MOST: Final = (1 << 64) - 1
_YEAR: Final = re.compile(r"[0-9]{4}-")
_TIMESTAMPS: Final = (
    "2006-1-2T15:4:5.999999999Z07:00",
    "2006-1-2t15:4:5.999999999Z07:00",
    "2006-1-2 15:4:5.999999999",
    "2006-1-2",
)


class YamlError(ValueError):
    """The text is not YAML, or cannot be converted to JSON. The message quotes nothing of it."""


class _Loader(yaml.CSafeLoader):
    """A loader that only marks plain scalars; `resolve` below gives them their value."""

    def resolve(self, kind: type[yaml.Node], value: str, implicit: tuple[bool, bool]) -> str:  # noqa: ARG002 (the signature is PyYAML's)
        return _PLAIN if kind is yaml.ScalarNode and implicit[0] else f"{_TAG}str"


def load(budget: Budget, text: str, *, exact: bool = False) -> Value:
    """The first document, as maps with string keys, lists, strings, numbers, booleans, nil. Raises YamlError.

    Later documents are ignored. Numbers are finite floats, as in JSON; with `exact`, integers are ints, and
    floats may be infinite or NaN.
    """
    if has_stray_bytes(text):
        raise YamlError("error converting YAML to JSON: yaml: invalid UTF-8")
    budget.make(_CHARACTER_SIZE * len(text))
    node, read = _compose(budget, text)
    return None if node is None else _Builder(budget, read, exact=exact).document(node)


def _compose(budget: Budget, text: str) -> tuple[yaml.Node | None, str]:
    """The document's node, and the text to which its marks refer. Raises YamlError."""
    while True:
        budget.step(len(text))
        node, problem, place = _try_compose(text)
        if not problem:
            return node, text
        if text[place : place + 2] != "\\'":
            # Raised outside of the `except`: the parser's error contains the text.
            raise YamlError(f"error converting YAML to JSON: {problem}")
        text = text[:place] + text[place + 1 :]  # Go's parser reads this escape as an apostrophe


def _try_compose(text: str) -> tuple[yaml.Node | None, str, int]:
    """The node; or the problem, and the position of an unknown escape."""
    try:
        if _is_deep(text):
            return None, "yaml: nested too deeply", len(text)
        loader = _Loader(text)
        try:
            return (loader.get_node() if loader.check_node() else None), "", 0
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark if error.problem == _UNKNOWN_ESCAPE else None
        return None, f"yaml: {_line_of(error)}{error.problem}", mark.index if mark is not None else len(text)
    except ReaderError:
        problem = "yaml: control characters are not allowed"
    except (yaml.YAMLError, RecursionError, ValueError):
        problem = "yaml: the document cannot be read"
    return None, problem, len(text)


def _is_deep(text: str) -> bool:
    """Whether too many levels are nested: libyaml makes nodes recursively, and would crash."""
    if sum(map(text.count, _OPENERS)) < _SUSPICIOUS:
        return False
    level = 0
    parser = CParser(text)
    while (event := parser.get_event()) is not None and not isinstance(event, yaml.DocumentEndEvent):
        level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if level > _MOST_LEVELS:
            return True
    return False


def _line_of(error: yaml.MarkedYAMLError) -> str:
    """The line as Go's library reports it: none for the first, and one less for an error of its parser."""
    scanned = isinstance(error, ScannerError)
    for mark in (error.problem_mark, error.context_mark):
        if mark is not None and mark.line:
            return f"line {mark.line + scanned}: "
    return ""


class _Builder:
    def __init__(self, budget: Budget, text: str, *, exact: bool) -> None:
        self._budget = budget
        self._exact = exact
        self._slashed = text if "\\/" in text else ""
        self._met_non_finite = False

    def document(self, node: yaml.Node) -> Value:
        """The value of the whole document."""
        value = self.value(node, 0)
        if self._met_non_finite and _has_non_finite(value):  # a value whose key is repeated does not count
            raise YamlError("error converting YAML to JSON: json: unsupported value")
        return value

    def value(self, node: yaml.Node, level: int) -> Value:
        if level > _MOST_LEVELS:
            raise YamlError("error converting YAML to JSON: yaml: nested too deeply")
        self._budget.make(_NODE_SIZE)
        if isinstance(node, yaml.MappingNode):
            return self._entries(node, level)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(cast("yaml.Node", member), level + 1) for member in node.value]
        if isinstance(node, yaml.ScalarNode):
            self._budget.step(len(node.value) >> _SHARE)
            return self._as_json(self._scalar(node))
        raise YamlError("error converting YAML to JSON: yaml: a node of an unknown kind")

    def _scalar(self, node: yaml.ScalarNode) -> Value:
        written = self._slashed[node.start_mark.index : node.end_mark.index] if self._slashed else ""
        if node.style == '"':
            self._budget.step(len(written))
            if _SLASH.match(written):
                raise YamlError(f"error converting YAML to JSON: yaml: {_UNKNOWN_ESCAPE}")
        return _scalar(node)

    def _as_json(self, value: Value) -> Value:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and not self._exact:
            self._met_non_finite |= not math.isfinite(value)
            return float(value)
        return value

    def _entries(self, node: yaml.MappingNode, level: int) -> dict[str, Value]:
        entries: dict[str, Value] = {}
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            if isinstance(key, yaml.ScalarNode) and key.value == _MERGE and key.tag == _PLAIN:
                entries |= self._merged(value, level + 1)  # the last one wins
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise YamlError("error converting YAML to JSON: yaml: invalid map key")
            name = _key(self._scalar(key))
            entries[name] = self.value(value, level + 1)
        return entries

    def _merged(self, node: yaml.Node, level: int) -> dict[str, Value]:
        if isinstance(node, yaml.MappingNode):
            return self._entries(node, level)
        if isinstance(node, yaml.SequenceNode) and level <= _MOST_LEVELS:
            merged: dict[str, Value] = {}
            for member in cast("list[yaml.Node]", node.value):
                if isinstance(member, yaml.MappingNode):
                    merged = self._entries(member, level + 1) | merged
                    continue
                break
            else:
                return merged
        raise YamlError(
            "error converting YAML to JSON: yaml: map merge requires map or sequence of maps as the value"
        )


def _scalar(node: yaml.ScalarNode) -> Value:
    """The value of a scalar, by its tag, or else by its text."""
    text = node.value
    if node.tag == _PLAIN:
        return resolve(text)
    explicit = node.tag.removeprefix(_TAG)
    if explicit == "binary":
        try:
            return runes(text_of(decode_base64(text)))
        except BadEncoding:
            raise YamlError(
                "error converting YAML to JSON: yaml: !!binary value contains invalid base64 data"
            ) from None
    if explicit not in _KINDS:
        return text
    value = resolve(text)
    if explicit == "float" and type(value) is int:
        value = float(value)
    if type(value) not in _KINDS[explicit]:
        raise YamlError(f"error converting YAML to JSON: yaml: cannot decode a scalar as a !!{explicit}")
    return value


def _has_non_finite(value: Value) -> bool:
    """Whether it contains an infinity or NaN, which JSON does not have."""
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(map(_has_non_finite, cast("dict[str, Value]", value).values()))
    return isinstance(value, list) and any(map(_has_non_finite, cast("list[Value]", value)))


def _key(value: Value) -> str:
    if value is None:
        raise YamlError("error converting YAML to JSON: unsupported map key")
    if isinstance(value, bool):
        return "true" if value else "false"
    return float_key(value) if isinstance(value, float) else str(value)


def resolve(text: str) -> Value:
    """The value of a plain scalar: nil, a boolean, a number with Go's syntax, or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first == ".":
        number = parse_float(text)
        return text if number is None else number
    if first not in "+-0123456789" or is_timestamp(text):
        return text
    return _number(text)


def _number(text: str) -> Value:
    plain = text.replace("_", "")
    whole = parse_literal(plain)
    if whole is not None and _LEAST <= whole <= _MOST and (whole < 1 << 63 or plain[0] != "+"):
        return whole
    if _FLOAT.fullmatch(plain):
        number = parse_float(plain)
        return text if number is None else number
    return text


def is_timestamp(text: str) -> bool:
    """Whether it is a date, with or without a time: YAML has a type for that, JSON has not."""
    return bool(_YEAR.match(text)) and any(
        parse_time(layout, text, UTC) is not None for layout in _TIMESTAMPS
    )


def can_be_plain(text: str) -> bool:
    """Whether a string is still a string when it is written without quotes."""
    if _BASE60.fullmatch(text) or is_timestamp(text):
        return False
    meaning = resolve(text)
    return isinstance(meaning, str)
