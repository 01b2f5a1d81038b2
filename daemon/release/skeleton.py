"""A file of values with exactly the sensitive fields of a module, for its users to fill in."""

import json
from collections.abc import Iterator

from syncret.config.text.yaml import to_flow
from syncret.config.visible import printable
from syncret.daemon.release.schema import Group, Malformed, Node, Plain, Positions, Sensitive

_STEP = "  "


def skeleton(name: str, config: Node, requires: Node) -> str:
    """The text of the file. A required field has an empty mapping, which is invalid until it is filled in."""
    lines = [
        f"# The sensitive fields of {name}. Replace each {{}} with one of:",
        "#   {value: ...}                                       a literal",
        "#   {source: k8s, path: SECRET, remoteKey: KEY}         a key of a Secret in the cluster",
        "#   {source: k8s-eso, path: ENTRY, remoteKey: KEY}      an entry of the platform's secret manager",
    ]
    body = list(_node(config, "")) if _has_sensitive(config) else ["{}"]
    bound = [f"#   {path}" for path in _paths(requires, "requires")]
    if bound:
        lines += ["# The platform binds these:", *bound]
    return "\n".join([*lines, *body]) + "\n"


def _node(node: Node, indent: str) -> Iterator[str]:
    match node:
        case Group(members=members):
            for key, member in members.items():
                if _has_sensitive(member):
                    yield from _entry(f"{to_flow(key)}:", member, indent)
        case Positions(items=items):
            for item in items:
                yield from _entry("-", item, indent)
        case _:
            pass


def _entry(head: str, node: Node, indent: str) -> Iterator[str]:
    match node:
        case Sensitive(routing=routing):
            for line in routing.description.splitlines():
                yield f"{indent}# {printable(line)}"
            about = [f"key {routing.data_key} of {routing.secret_name}"]
            about += ["optional"] if routing.optional else []
            if routing.constraints.all:
                about.append(f"constraints {printable(json.dumps(list(routing.constraints.all)))}")
            yield f"{indent}# {', '.join(about)}"
            yield f"{indent}{head} {{}}"
        case Group() | Positions() if _has_sensitive(node):
            yield f"{indent}{head}"
            yield from _node(node, indent + _STEP)
        case _:
            yield f"{indent}{head} {{}}"


def _has_sensitive(node: Node) -> bool:
    match node:
        case Sensitive():
            return True
        case Group(members=members):
            return any(map(_has_sensitive, members.values()))
        case Positions(items=items):
            return any(map(_has_sensitive, items))
        case Plain() | Malformed():
            return False


def _paths(node: Node, path: str) -> Iterator[str]:
    match node:
        case Sensitive():
            yield path
        case Group(members=members):
            for key, member in members.items():
                yield from _paths(member, f"{path}.{printable(key)}")
        case Positions(items=items):
            for index, item in enumerate(items):
                yield from _paths(item, f"{path}[{index}]")
        case _:
            pass
