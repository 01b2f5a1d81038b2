"""The interface by which validation asks for the specs of providers and generators without importing them."""

from collections.abc import Callable, Collection, Iterator
from typing import Any, Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from syncret.config.errors import Problem
from syncret.config.fields import Model


class Scope(Struct, frozen=True):
    """The scope of a store: cluster-scoped, or one namespace."""

    cluster: bool
    namespace: str = ""


OTHER_NAMESPACE: Final = (
    "namespace should either be empty or match the namespace of the SecretStore for a namespaced SecretStore"
)
"""The message about a reference to another namespace than that of the store."""

M = TypeVar("M", bound=Model)


class SpecText(NamedTuple):
    """A text of a spec that is read only when it is used; `path` is relative to the spec.

    `names` are the fields that a template may use. A JSONPath may be written as a template, too.
    """

    path: str
    text: str
    language: Literal["template", "jsonpath"]
    names: frozenset[str]


class SpecType(Struct, Generic[M], frozen=True):
    """The model of one provider's or generator's spec, and its rules beyond the schema.

    `check` yields problems whose paths are relative to the spec itself.
    """

    name: str
    model: type[M]
    check: Callable[[M, Scope], Iterator[Problem]] | None = None
    maintained: bool = True
    texts: Callable[[M], Iterator[SpecText]] | None = None
    gjson_properties: bool = False
    """Whether the property of a remote reference is a gjson path into the value."""


class BrokenEntry(Exception):
    """A name of the catalog cannot be used: its module fails to load, or two distributions offer it.

    The message has the name, the cause and the distribution; `hint` is the remedy.
    """

    def __init__(self, message: str, *, hint: str) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


class Catalog(Protocol):
    """A lazy table of specs: a lookup imports the module of that spec and no other.

    Names are listed whether or not they can be used.
    """

    def __hash__(self) -> int:
        """Compiled schemas are cached by catalog."""
        ...

    def store_names(self) -> Collection[str]:
        """The keys that `spec.provider` of a store may carry."""
        ...

    def store(self, name: str) -> SpecType[Any]:
        """The spec of one provider; KeyError if there is no such provider, BrokenEntry if it is broken."""
        ...

    def generator_kinds(self) -> Collection[str]:
        """The kinds of generators."""
        ...

    def generator(self, kind: str) -> SpecType[Any]:
        """The spec of one generator kind; KeyError if there is no such kind, BrokenEntry if it is broken."""
        ...


def generator_key(kind: str) -> str:
    """The key of a kind's spec in a ClusterGenerator: `sshKeySpec` for SSHKey, `uuidSpec` for UUID."""
    capitals = next((place for place, letter in enumerate(kind) if not letter.isupper()), len(kind))
    first = capitals if capitals == len(kind) else max(capitals - 1, 1)
    return f"{kind[:first].lower()}{kind[first:]}Spec"
