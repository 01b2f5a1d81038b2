"""Converts YAML nodes to JSON values as Kubernetes' own reader does (sigs.k8s.io/yaml, which is YAML 1.1).

Keys become strings, `yes` and `on` are booleans, timestamps stay strings, `1e3` is a number, `010` is eight,
merge keys merge. Repeated keys, aliases that expand too far and endless nesting are reported.
"""

import math
import re
import struct
from base64 import b64decode
from collections.abc import Iterator
from functools import lru_cache
from operator import is_
from typing import Final, NamedTuple, cast

from yaml._yaml import CParser
from yaml.error import Mark
from yaml.events import ScalarEvent
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.config.paths import Path, render

_WORDS: Final[dict[str, Json]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_SIGNS: Final = ("+", "-", ".")
_UNSAYABLE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_INTEGER: Final = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_PLAIN: Final = "plain"
_TAGS: Final = "tag:yaml.org,2002:"
_INT64: Final = 2**63
_LONGEST_NUMBER: Final = 300
_LONG: Final = 64
_FLOAT32_DIGITS: Final = 9
_POWERS_WRITTEN_OUT: Final = range(-4, 6)
_NOT_FINITE: Final = {"NaN": ".nan", "+Inf": ".inf", "-Inf": "-.inf"}
_TYPES: Final[dict[str, type]] = {"int": int, "float": float, "bool": bool, "null": type(None)}
_AMBIGUOUS_STARTS: Final = frozenset(["", *"0123456789+-.~yYnNtTfFoO"])
"""First characters of plain scalars that may be something else than a string; an empty one has none."""
_MERGE: Final = "<<"
_UNUSUAL_STARTS: Final = _AMBIGUOUS_STARTS | {"<"}
"""First characters of plain keys that may be no string, or the merge key."""


class Fault(Exception):
    """The document cannot be read; `line` counts from 0 in its text."""

    def __init__(self, message: str, line: int, hint: str = "") -> None:
        self.message = message
        self.line = line
        self.hint = hint
        super().__init__(message)


class Duplicate(NamedTuple):
    """A key that appears twice; the last value counts."""

    path: str
    line: int


class Composer(CParser):
    """libyaml's parser; this module resolves the scalars."""

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)

    # No rule depends on a node's place in the tree: builtins as no-ops, since these are called for each node.
    descend_resolver = staticmethod(is_)
    ascend_resolver = staticmethod(bool)

    def resolve(self, kind: type[Node], value: Json, implicit: Json) -> str:  # noqa: ARG002  # the parser's protocol
        """Plain scalars differ from quoted ones; everything else follows from the kind of the node."""
        return _PLAIN if kind is ScalarNode and implicit[0] else ""


def compose(text: str) -> Node | None:
    """The node tree of one document, or None for an empty one. Raises yaml.YAMLError."""
    node: Node | None = Composer(text).get_single_node()
    return node


class Constructor:
    """Builds the value of one node tree. Aliases may repeat at most `aliased` values."""

    def __init__(self, *, aliased: int, depth: int, has_anchors: bool = True) -> None:
        """Without anchors nothing can be repeated, and nothing is counted."""
        self.duplicates: list[Duplicate] = []
        self._has_anchors = has_anchors
        self._aliased = aliased
        self._depth = depth
        self._seen: set[int] = set()
        self._open: set[int] = set()

    def value(self, node: Node, path: Path = None) -> Json:
        """The JSON value. Raises Fault."""
        if isinstance(node, ScalarNode):
            if self._has_anchors and len(node.value) > _LONG:
                self._count(node, len(node.value) // _LONG)
            return scalar(node)
        identity = id(node)
        if identity in self._open:
            raise Fault(
                "an alias refers to a value that contains it", node.start_mark.line, "write the value out"
            )
        if len(self._open) >= self._depth:
            raise Fault(
                f"is nested deeper than {self._depth} levels", node.start_mark.line, "write it flatter"
            )
        if self._has_anchors:
            self._count(node, len(node.value) + 1)
        self._open.add(identity)
        result: Json
        if isinstance(node, MappingNode):
            result = self._mapping(node, path)
        else:
            result = [self.value(item, (path, place)) for place, item in enumerate(node.value)]
        self._open.discard(identity)
        return result

    def _count(self, node: Node, weight: int) -> None:
        """A few lines of text must not become millions of values."""
        if id(node) in self._seen:
            self._aliased -= weight
            if self._aliased < 0:
                raise Fault("aliases repeat too many values", node.start_mark.line, "write them out")
        self._seen.add(id(node))

    def _mapping(self, node: MappingNode, path: Path) -> Document:
        result: Document = {}
        own: set[str] = set()
        for key_node, value_node in node.value:
            key = key_node.value
            if key_node.tag != _PLAIN or key.__class__ is not str or key[:1] in _UNUSUAL_STARTS:
                if key_node.tag == _PLAIN and key == _MERGE:
                    # Later entries win, merged or not; of the sources of one merge, the first wins.
                    for source in reversed(list(self._merged(value_node, path))):
                        result |= source
                    continue
                key = key_text(key_node)
            if key in own:
                self.duplicates.append(Duplicate(render((path, key)), key_node.start_mark.line))
            own.add(key)
            value = value_node.value
            if value_node.__class__ is not ScalarNode or len(value) > _LONG:
                result[key] = self.value(value_node, (path, key))
            elif value_node.tag == _PLAIN and value[:1] not in _AMBIGUOUS_STARTS:
                result[key] = value
            else:
                result[key] = scalar(value_node)
        return result

    def _merged(self, node: Node, path: Path) -> Iterator[Document]:
        sources = node.value if isinstance(node, SequenceNode) else [node]
        for source in sources:
            if not isinstance(source, MappingNode):
                raise Fault("a merge key takes a mapping, or a list of mappings", node.start_mark.line)
            yield self.value(source, path)


def key_text(node: Node) -> str:
    """The key as JSON writes it. Raises Fault where JSON has no such key."""
    if not isinstance(node, ScalarNode):
        raise Fault("a key must be a string, not a mapping or a list", node.start_mark.line)
    if node.tag != _PLAIN:
        text: str = node.value
        return text
    value = scalar(node)
    if value.__class__ is str:
        return value
    if value is None:
        raise Fault("a key must not be null", node.start_mark.line, "put it in quotes")
    if isinstance(value, bool):
        return str(value).lower()
    return float_key(value) if isinstance(value, float) else str(value)


def scalar_node(event: ScalarEvent) -> ScalarNode:
    """The node that the composer makes of a scalar."""
    tag = event.tag if event.tag not in (None, "!") else _PLAIN if event.implicit[0] else ""
    begin, end = cast("tuple[Mark, Mark]", (event.start_mark, event.end_mark))  # libyaml's events have marks
    return ScalarNode(tag, event.value, begin, end)


def float_key(value: float) -> str:
    """The key that Kubernetes' reader makes of a float."""
    text = float_text(value)
    return _NOT_FINITE.get(text, text)


def float_text(value: float) -> str:
    """The string that Kubernetes' reader makes of a float: Go's shortest form of the nearest 32-bit float."""
    packed = struct.pack("f", value)
    (nearest,) = struct.unpack("f", packed)
    if not math.isfinite(nearest):
        return "NaN" if math.isnan(nearest) else "+Inf" if nearest > 0 else "-Inf"
    written = (f"{nearest:.{digits}e}" for digits in range(_FLOAT32_DIGITS))
    shortest = next(text for text in written if struct.pack("f", float(text)) == packed)
    mantissa, _, power = shortest.partition("e")
    if int(power) not in _POWERS_WRITTEN_OUT:
        return shortest
    decimals = max(len(mantissa.lstrip("-").replace(".", "")) - 1 - int(power), 0)
    return f"{nearest:.{decimals}f}"


def scalar(node: ScalarNode) -> Json:
    """The value of one scalar. Raises Fault."""
    text: str = node.value
    if node.tag == _PLAIN:
        if text[:1] not in _AMBIGUOUS_STARTS:
            return text
        return _plain(text, node)
    return _tagged(node.tag.removeprefix(_TAGS), text, node) if node.tag.startswith(_TAGS) else text


def _tagged(tag: str, text: str, node: ScalarNode) -> Json:
    if tag == "binary":
        try:
            return b64decode(text).decode()
        except ValueError:
            raise Fault("!!binary takes text in base64", node.start_mark.line) from None
    if tag not in _TYPES:
        return text
    value = _plain(text, node)
    if tag == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if value.__class__ is not _TYPES[tag]:
        raise Fault(f"the value is not a valid {tag}", node.start_mark.line)
    return value


def _plain(text: str, node: ScalarNode) -> Json:
    if text.startswith(_SIGNS) and _UNSAYABLE.fullmatch(text):
        raise Fault("JSON cannot represent this number", node.start_mark.line, "put it in quotes")
    return resolve(text) if len(text) <= _LONGEST_NUMBER else text


@lru_cache(maxsize=1024)
def resolve(text: str) -> Json:
    """The value of an unquoted scalar: null, a boolean, a number or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    digits = text.replace("_", "")
    if _INTEGER.fullmatch(digits):
        value = int(_octal(digits), 0)
        return value if -_INT64 <= value < _INT64 else float(value)
    if _FLOAT.fullmatch(digits) and math.isfinite(number := float(digits)):
        return number
    return text


def _octal(digits: str) -> str:
    """Python writes `0o17` where YAML 1.1 may write `017`."""
    sign, digits = (digits[0], digits[1:]) if digits[0] in "+-" else ("", digits)
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        digits = f"0o{digits[1:]}"
    return sign + digits
