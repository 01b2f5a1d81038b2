"""Finds providers and generators by name, and imports only the requested one.

Those of this distribution are in `syncret.providers.builtin`. Other distributions may add theirs as entry
points of the groups `syncret.providers` and `syncret.generators`. A duplicate name is an error, never an
override, since the provider of a store receives its credentials.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, Generic, TypeVar

from syncret.config.catalog import SpecType
from syncret.providers import builtin
from syncret.providers.contract import Generator, Provider

T = TypeVar("T", bound=Provider[Any] | Generator[Any])

EntryPoints = Callable[[str], Iterable[tuple[str, str]]]
"""The (name, address) pairs of a group among installed distributions."""


class UnknownName(KeyError):
    """There is no provider or generator of this name; `hint` names the nearest."""

    def __init__(self, noun: str, name: str, known: Collection[str]) -> None:
        self.message = f"there is no {noun} {name!r}"
        self.hint = _nearest(name, known)
        super().__init__(f"{self.message} ({self.hint})")


class BrokenEntry(RuntimeError):
    """The object at the address of a name cannot be used, or two distributions use the name."""


def installed(group: str) -> Iterable[tuple[str, str]]:
    """The entry points of one group among all installed distributions."""
    from importlib.metadata import entry_points  # slow to import, and not needed for builtin names

    return [(point.name, point.value) for point in entry_points(group=group)]


def _nearest(name: str, known: Collection[str]) -> str:
    from difflib import get_close_matches  # imported only for a typo

    spelled = {each.lower(): each for each in known}
    near = [spelled[match] for match in get_close_matches(name.lower(), spelled)]
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(sorted(known))}"


class _Table(Generic[T]):
    """The names and addresses of providers or of generators, and those that were imported."""

    def __init__(self, noun: str, kind: type[T], own: Mapping[str, str], others: EntryPoints) -> None:
        self._noun = noun
        self._kind = kind
        self.builtin = own
        self._others = others
        self._loaded: dict[str, T] = {}

    @cached_property
    def addresses(self) -> Mapping[str, str]:
        addresses = dict(self.builtin)
        for name, address in self._others(f"syncret.{self._noun}s"):
            if addresses.setdefault(name, address) != address:
                raise BrokenEntry(
                    f"{self._noun} {name!r}: an installed distribution offers {address}, but the name "
                    f"belongs to {addresses[name]}; uninstall it, or let it use another name"
                )
        return addresses

    def get(self, name: str) -> T:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> T:
        # Builtin names must not need a scan of all installed distributions.
        address = self.builtin.get(name) or self.addresses.get(name)
        if address is None:
            raise UnknownName(self._noun, name, self.addresses.keys())
        module, _, attribute = address.partition(":")
        try:
            found: object = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise BrokenEntry(f"{self._noun} {name!r} cannot be loaded from {address}: {error}") from error
        if not isinstance(found, self._kind):
            raise BrokenEntry(f"{self._noun} {name!r}: {address} is not a {self._kind.__name__}")
        if found.spec.name != name:
            raise BrokenEntry(f"{self._noun} {name!r}: {address} calls itself {found.spec.name!r}")
        return found


class _Names(Collection[str]):
    """The names of a table; builtin ones are found without a scan of all installed distributions."""

    def __init__(self, table: _Table[Any]) -> None:
        self._table = table

    def __contains__(self, name: object) -> bool:
        return name in self._table.builtin or name in self._table.addresses

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.addresses)

    def __len__(self) -> int:
        return len(self._table.addresses)


class Registry:
    """All providers and generators of this installation. It is the `Catalog` of `syncret.config`."""

    def __init__(
        self,
        stores: Mapping[str, str] = builtin.STORES,
        generators: Mapping[str, str] = builtin.GENERATORS,
        entry_points: EntryPoints = installed,
    ) -> None:
        self._providers = _Table[Provider[Any]]("provider", Provider, stores, entry_points)
        self._generators = _Table[Generator[Any]]("generator", Generator, generators, entry_points)

    def provider(self, name: str) -> Provider[Any]:
        """The provider of one name. Raises UnknownName (a KeyError) or BrokenEntry."""
        return self._providers.get(name)

    def generator_type(self, kind: str) -> Generator[Any]:
        """The generator of one kind. Raises UnknownName (a KeyError) or BrokenEntry."""
        return self._generators.get(kind)

    def store_names(self) -> Collection[str]:
        return _Names(self._providers)

    def store(self, name: str) -> SpecType[Any]:
        return self.provider(name).spec

    def generator_kinds(self) -> Collection[str]:
        return _Names(self._generators)

    def generator(self, kind: str) -> SpecType[Any]:
        return self.generator_type(kind).spec
