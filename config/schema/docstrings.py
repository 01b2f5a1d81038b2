"""Reads the descriptions of fields from the docstrings below them, in the source of their class.

Python drops a docstring below a field when it compiles a module, so descriptions cost nothing at run time:
the source is parsed when documentation is asked for. Without sources there are no descriptions.

    server: str
    \"\"\"The address of the server, with its port. Example: https://vault.example.com:8200\"\"\"

What follows the last `Example:` is YAML. A class may end with an example, too: of every field of its type.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple, get_origin

import msgspec

from syncret.config.fields import Json
from syncret.config.text.yaml import parse_text

ABSENT: Final = msgspec.UNSET
"""There is no example, or no default."""
_MARK: Final = "Example:"


class Description(NamedTuple):
    """The description of a field or a model, as one paragraph, and a value as an example."""

    text: str = ""
    example: Json = ABSENT
    """Any JSON value."""


class Described(NamedTuple):
    """A model and its fields, by their names in a document."""

    model: Description
    fields: Mapping[str, Description]


@cache
def described(model: type[msgspec.Struct]) -> Described:
    """The descriptions of a model, and of its fields, inherited ones too."""
    plain: type[msgspec.Struct] = get_origin(model) or model
    found: dict[str, Description] = {}
    for each in reversed(plain.__mro__):
        definition = _classes(each.__module__).get(each.__name__)
        if definition is not None and issubclass(each, msgspec.Struct):
            found |= {name: _description(text) for name, text in _below_fields(definition)}
    own = _classes(plain.__module__).get(plain.__name__)
    names = {field.name: field.encode_name for field in msgspec.structs.fields(plain)}
    return Described(
        Description() if own is None else _description(ast.get_docstring(own) or ""),
        {names[name]: found[name] for name in found.keys() & names.keys()},
    )


@cache
def _classes(module: str) -> Mapping[str, ast.ClassDef]:
    try:
        source = inspect.getsource(sys.modules[module])
    except (OSError, TypeError, KeyError):  # there is no source: made at run time, or not delivered
        return {}
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}


def _below_fields(definition: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(definition.body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, inspect.cleandoc(text)
            case _:
                pass


def _description(docstring: str) -> Description:
    """The first paragraph and the example; what stands between them is for developers."""
    before, mark, example = docstring.rpartition(_MARK)
    text = before if mark else docstring
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return Description(paragraph, _parsed(example) if mark else ABSENT)


def _parsed(example: str) -> Json:
    """The value; no example if it is not one YAML document."""
    documents = list(parse_text(inspect.cleandoc(example).encode()))
    is_one = len(documents) == 1 and not documents[0].problems
    return documents[0].value if is_one else ABSENT
