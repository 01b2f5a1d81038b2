"""YAML as Kubernetes reads it into JSON: version 1.1, where a bare `n` or `on` is a boolean, as a key too."""

import base64
import math
from typing import Final, cast

import yaml
from yaml.reader import ReaderError
from yaml.scanner import ScannerError

from syncret.config.nodes import float_key
from syncret.daemon.core.templating.functions.contract import Context
from syncret.daemon.core.templating.functions.text import has_stray_bytes
from syncret.daemon.core.templating.functions.yaml_scalars import resolve
from syncret.daemon.core.templating.values import Value, text_of

_TAG: Final = "tag:yaml.org,2002:"
_PLAIN: Final = ""
_MERGE: Final = "<<"
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "bool": (bool,),
    "float": (float,),
    "int": (int,),
    "null": (type(None),),
}
_MOST_LEVELS: Final = 100
_NODE_SIZE: Final = 60
_CHARACTER_SIZE: Final = 2
_SHARE: Final = 8
"""Work for one scalar, each time an alias repeats it: a unit per 256 characters."""


class _Loader(yaml.CSafeLoader):
    """Tells plain scalars from others and leaves their meaning to us."""

    def resolve(self, kind: type[yaml.Node], value: str, implicit: tuple[bool, bool]) -> str:  # noqa: ARG002 (the signature is PyYAML's)
        return _PLAIN if kind is yaml.ScalarNode and implicit[0] else f"{_TAG}str"


class YamlError(ValueError):
    """The text is no YAML, or none that JSON can hold. The message holds nothing of it."""


def load_json(context: Context, text: str) -> Value:
    """The first document: maps with text for keys, lists, text, floats, booleans, nil. Raises YamlError."""
    if has_stray_bytes(text):
        raise YamlError("error converting YAML to JSON: yaml: invalid UTF-8")
    context.budget.allocate(_CHARACTER_SIZE * len(text))
    context.budget.charge(len(text))
    problem = ""
    try:
        loader = _Loader(text)
        try:
            node = loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        node = None
        problem = f"yaml: {_line_of(error)}{error.problem}"
    except ReaderError:
        node = None
        problem = "yaml: control characters are not allowed"
    except (yaml.YAMLError, RecursionError, ValueError):
        node = None
        problem = "yaml: the document cannot be read"
    if problem:
        # Raised out here: the parser's own error holds the text.
        raise YamlError(f"error converting YAML to JSON: {problem}")
    return None if node is None else _Builder(context).document(node)


def _line_of(error: yaml.MarkedYAMLError) -> str:
    """The line as the original tells it: none for the first, and one less for what is found by its parser."""
    scanned = isinstance(error, ScannerError)
    for mark in (error.problem_mark, error.context_mark):
        if mark is not None and mark.line:
            return f"line {mark.line + scanned}: "
    return ""


class _Builder:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._met_endless = False

    def document(self, node: yaml.Node) -> Value:
        """The value of the whole document."""
        value = self.value(node, 0)
        if self._met_endless and _holds_endless(value):  # one whose key came again does not count
            raise YamlError("error converting YAML to JSON: json: unsupported value")
        return value

    def value(self, node: yaml.Node, level: int) -> Value:
        if level > _MOST_LEVELS:
            raise YamlError("error converting YAML to JSON: yaml: nested too deeply")
        self._context.budget.allocate(_NODE_SIZE)
        if isinstance(node, yaml.MappingNode):
            return self._entries(node, level)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(cast("yaml.Node", member), level + 1) for member in node.value]
        if isinstance(node, yaml.ScalarNode):
            self._context.budget.charge(len(node.value) >> _SHARE)
            return self._as_json(_scalar(node))
        raise YamlError("error converting YAML to JSON: yaml: a node of an unknown kind")

    def _as_json(self, value: Value) -> Value:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            self._met_endless |= not math.isfinite(value)
            return float(value)
        return value

    def _entries(self, node: yaml.MappingNode, level: int) -> dict[str, Value]:
        entries: dict[str, Value] = {}
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            if isinstance(key, yaml.ScalarNode) and key.value == _MERGE and key.tag == _PLAIN:
                entries |= self._merged(value, level + 1)  # what stands later counts, here too
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise YamlError("error converting YAML to JSON: yaml: invalid map key")
            name = _key(_scalar(key))
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
    """What a scalar stands for, its tag or else its form deciding."""
    text = node.value
    if node.tag == _PLAIN:
        return resolve(text)
    explicit = node.tag.removeprefix(_TAG)
    if explicit == "binary":
        try:
            return text_of(base64.b64decode(text))
        except ValueError:
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


def _holds_endless(value: Value) -> bool:
    """Whether there is a number in it that JSON does not have."""
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(map(_holds_endless, cast("dict[str, Value]", value).values()))
    return isinstance(value, list) and any(map(_holds_endless, cast("list[Value]", value)))


def _key(value: Value) -> str:
    if value is None:
        raise YamlError("error converting YAML to JSON: unsupported map key")
    if isinstance(value, bool):
        return "true" if value else "false"
    return float_key(value) if isinstance(value, float) else str(value)
