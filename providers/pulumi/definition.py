"""Changes of the definition of an environment, whose other parts stay as they are written.

The YAML is read into nodes, not into values: what Pulumi reads as a text, a number or null does not depend on
our reading of it. Comments are lost.
"""

import re
from collections.abc import Sequence
from typing import Final, TypeAlias, TypeGuard

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from syncret.config.text.yaml import parse_text
from syncret.config.text.yaml_scalars import YAML_V3
from syncret.providers.errors import Malformed
from syncret.providers.pulumi.paths import Path
from syncret.providers.work import Work

_MEMORY: Final = 200
"""Bytes that one of YAML takes as nodes."""

_NEVER_WRAP: Final = 2**31 - 1
_SECRET: Final = "fn::secret"
"""The function that encrypts its argument."""

_YAML: Final = "tag:yaml.org,2002:"
_TEXT: Final = f"{_YAML}str"
_NO_TEXT: Final = "tag:syncret.dev,2026:no-text"
"""Of a plain scalar that may be no text, so that none gets quotes or loses them. It is never written."""

_MAYBE_NO_TEXT: Final = re.compile(
    r"(|~|null|Null|NULL|true|True|TRUE|false|False|FALSE|[-+]?\.?[0-9][-+.\w]*|[-+]?\.\w+)\Z", re.ASCII
)

_Members: TypeAlias = list[tuple[Node, Node]]


class _Loader(yaml.CBaseLoader):
    """Reads nodes, with texts as texts."""


class _Dumper(yaml.CBaseDumper):
    """Writes nodes as they were read."""


# PyYAML's stubs leave types open.
for _side in (_Loader, _Dumper):
    _side.add_implicit_resolver(_NO_TEXT, _MAYBE_NO_TEXT, None)  # pyright: ignore[reportUnknownMemberType]


def with_secret(definition: bytes, path: Path, text: str, work: Work) -> bytes:
    """The definition with a secret text at a path below its values. Raises Malformed."""
    root = _read(definition, work)
    inner = _member(root, "values")
    if inner is None or _is_null(inner):
        inner = _set(root, "values", _object())
    *way, last = path
    for part in way:
        outer, inner = inner, _member(inner, part)
        if inner is None and _is_plain(outer) and isinstance(part, str):
            inner = _set(outer, part, _object())
    secret = _object((_text(_SECRET), _text(text, quoted=True)))
    if _is_plain(inner) and isinstance(last, str):
        _set(inner, last, secret)
    elif isinstance(inner, SequenceNode) and isinstance(last, int) and _member(inner, last):
        inner.value[last] = secret
    else:
        raise Malformed(
            "the path leads through a value that is no object", hint="choose another remoteKey or property"
        )
    return _written(root)


def without(definition: bytes, path: Path, work: Work) -> bytes | None:
    """The definition without what is at a path, and what is empty then; None if nothing is there."""
    root = _read(definition, work)
    way: list[Node] = []
    inner = _member(root, "values")
    for part in path:
        if inner is None:
            return None
        way.append(inner)
        inner = _member(inner, part)
    if inner is None:
        return None
    for outer, part in zip(reversed(way), reversed(path), strict=True):
        if isinstance(outer, MappingNode):
            members: _Members = outer.value
            outer.value = [each for each in members if each[0].value != part]
        elif outer is way[-1]:
            del outer.value[part]
        if outer.value:
            break
    return _written(root)


def _read(definition: bytes, work: Work) -> MappingNode:
    """The root of the definition, after a reading that bounds its size and depth. Raises Malformed."""
    work.make(len(definition) * _MEMORY)
    documents = list(parse_text(definition, reading=YAML_V3))
    if not documents:
        return _object()
    is_one = len(documents) == 1 and not documents[0].problems
    root = _composed(definition) if is_one else None
    if not isinstance(root, MappingNode):
        raise Malformed("the definition of the environment is no YAML object", hint="check it in Pulumi")
    _write_out_nulls(root)
    return root


def _composed(definition: bytes) -> Node | None:
    """The nodes; None if there is an empty document, too."""
    try:
        return yaml.compose(definition, Loader=_Loader)
    except yaml.YAMLError:
        return None


def _write_out_nulls(root: Node) -> None:
    """An empty scalar is null only where it needs no quotes: the writer would make a text of others."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, MappingNode):
            members: _Members = node.value
            waiting += [each for member in members for each in member]
        elif isinstance(node, SequenceNode):
            waiting += node.value
        elif node.tag == _NO_TEXT and not node.value:
            node.value = "null"


def _written(root: Node) -> bytes:
    text: str = yaml.serialize(  # pyright: ignore[reportUnknownMemberType]  # as above
        root, Dumper=_Dumper, allow_unicode=True, width=_NEVER_WRAP
    )
    return text.encode()


def _member(node: Node | None, part: str | int) -> Node | None:
    if isinstance(node, MappingNode) and isinstance(part, str):
        members: _Members = node.value
        return next((value for key, value in members if key.value == part), None)
    if isinstance(node, SequenceNode) and isinstance(part, int):
        items: Sequence[Node] = node.value
        return items[part] if 0 <= part < len(items) else None
    return None


def _set(node: MappingNode, name: str, value: Node) -> Node:
    """Set a member, in its place if it is there; the value."""
    members: _Members = node.value
    if not members:
        node.flow_style = False
    if _member(node, name) is None:
        members.append((_text(name), value))
    members[:] = [(key, value if key.value == name else held) for key, held in members]
    return value


def _object(*members: tuple[Node, Node]) -> MappingNode:
    return MappingNode(f"{_YAML}map", list(members))


def _text(text: str, *, quoted: bool = False) -> ScalarNode:
    return ScalarNode(_TEXT, text, style='"' if quoted else None)


def _is_null(node: Node) -> bool:
    return node.tag == _NO_TEXT and node.value.lower() in {"~", "null"}


def _is_plain(node: Node | None) -> TypeGuard[MappingNode]:
    """Whether it is an object of the definition, and no function such as `fn::secret`."""
    members: _Members = node.value if isinstance(node, MappingNode) else []
    return isinstance(node, MappingNode) and not any(str(key.value).startswith("fn::") for key, _ in members)
