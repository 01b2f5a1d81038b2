"""YAML as Kubernetes reads it into JSON: version 1.1, where a bare `n` or `on` is a boolean, as a key too."""

import base64
import math
import struct
from collections.abc import Hashable
from typing import Final, TypeAlias, cast

import yaml

from syncret.daemon.core.templating.floats import format_float
from syncret.daemon.core.templating.functions.contract import Context
from syncret.daemon.core.templating.functions.text import has_stray_bytes
from syncret.daemon.core.templating.functions.yaml_scalars import resolve
from syncret.daemon.core.templating.values import Value, text_of

_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = "<<"
_MOST_LEVELS: Final = 100
_NODE_SIZE: Final = 60
_CHARACTER_SIZE: Final = 2

_Entries: TypeAlias = dict[Hashable, Value]


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
        loader = yaml.CSafeLoader(text)
        try:
            node = loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        node = None
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        problem = f"yaml: line {line}: {error.problem}"
    except (yaml.YAMLError, RecursionError, ValueError):
        node = None
        problem = "yaml: the document cannot be read"
    if problem:
        # Raised out here: the parser's own error holds the text.
        raise YamlError(f"error converting YAML to JSON: {problem}")
    return None if node is None else _Builder(context).value(node, 0)


class _Builder:
    def __init__(self, context: Context) -> None:
        self._context = context

    def value(self, node: yaml.Node, level: int) -> Value:
        if level > _MOST_LEVELS:
            raise YamlError("error converting YAML to JSON: yaml: nested too deeply")
        self._context.budget.allocate(_NODE_SIZE)
        if isinstance(node, yaml.MappingNode):
            return {_key(key): value for key, value in self._entries(node, level).items()}
        if isinstance(node, yaml.SequenceNode):
            return [self.value(cast("yaml.Node", member), level + 1) for member in node.value]
        if isinstance(node, yaml.ScalarNode):
            return _as_json(_scalar(node))
        raise YamlError("error converting YAML to JSON: yaml: a node of an unknown kind")

    def _entries(self, node: yaml.MappingNode, level: int) -> _Entries:
        entries: _Entries = {}
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            if isinstance(key, yaml.ScalarNode) and key.value == _MERGE and not key.style:
                for name, member in self._merged(value, level + 1).items():
                    entries.setdefault(name, member)
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise YamlError("error converting YAML to JSON: yaml: invalid map key")
            name = _scalar(key)
            entries[name] = self.value(value, level + 1)
        return entries

    def _merged(self, node: yaml.Node, level: int) -> _Entries:
        if isinstance(node, yaml.MappingNode):
            return self._entries(node, level)
        if isinstance(node, yaml.SequenceNode) and level <= _MOST_LEVELS:
            merged: _Entries = {}
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
    explicit = (node.tag or "").removeprefix(_TAG)
    if explicit == "binary":
        try:
            return text_of(base64.b64decode(text))
        except ValueError:
            raise YamlError(
                "error converting YAML to JSON: yaml: !!binary value contains invalid base64 data"
            ) from None
    if node.style or explicit == "str":
        return text
    return resolve(text)


def _as_json(value: Value) -> Value:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise YamlError("error converting YAML to JSON: json: unsupported value")
        return float(value)
    return value


def _key(value: Hashable) -> str:
    if value is None:
        raise YamlError("error converting YAML to JSON: unsupported map key")
    if isinstance(value, bool):
        return "true" if value else "false"
    return _float_key(value) if isinstance(value, float) else str(value)


def _float_key(number: float) -> str:
    """Go writes the keys as 32-bit floats."""
    if not math.isfinite(number):
        return ".nan" if math.isnan(number) else ".inf" if number > 0 else "-.inf"
    try:
        single = struct.pack("f", number)
    except OverflowError:
        return ".inf" if number > 0 else "-.inf"
    nearest: float = struct.unpack("f", single)[0]
    shown = (f"{nearest:.{size}g}" for size in range(1, 10))
    shortest = next(digits for digits in shown if struct.pack("f", float(digits)) == single)
    return format_float(float(shortest), "g", None)
