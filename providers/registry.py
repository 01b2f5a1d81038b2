"""Finds providers and generators by name, and imports only the requested one.

Those of this distribution are in `syncret.providers.builtin`. Other distributions may add theirs as entry
points of the groups `syncret.providers` and `syncret.generators`. A name of ours cannot be replaced, and one
that two distributions offer is refused, since the provider of a store receives its credentials.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from syncret.config.catalog import BrokenEntry, SpecType
from syncret.providers import builtin
from syncret.providers.contract import Generator, Provider

if TYPE_CHECKING:  # only exports of resources need them
    from syncret.providers.secret_apis import SecretApis

T = TypeVar("T", bound=Provider[Any] | Generator[Any])


class Offer(NamedTuple):
    """A name, the address of its provider or generator, and the distribution; empty: this one."""

    name: str
    address: str
    distribution: str = ""

    def __str__(self) -> str:
        return f"{self.address} of {self.distribution}" if self.distribution else self.address


EntryPoints = Callable[[str], Iterable[Offer]]
"""The entry points of a group among installed distributions."""


class UnknownName(KeyError):
    """There is no provider or generator of this name; `hint` names the nearest."""

    def __init__(self, noun: str, name: str, known: Collection[str]) -> None:
        self.message = f"there is no {noun} {name!r}"
        self.hint = _nearest(name, known)
        super().__init__(f"{self.message} ({self.hint})")


def installed(group: str) -> Iterable[Offer]:
    """The entry points of one group among all installed distributions."""
    from importlib.metadata import entry_points  # slow to import, and not needed for builtin names

    return [
        Offer(point.name, point.value, "" if point.dist is None else point.dist.name)
        for point in entry_points(group=group)
    ]


def _nearest(name: str, known: Collection[str]) -> str:
    from difflib import get_close_matches  # imported only for a typo

    spelled = {each.lower(): each for each in known}
    near = [spelled[match] for match in get_close_matches(name.lower(), spelled)]
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(sorted(known))}"


class _Table(Generic[T]):
    """The providers or the generators: what is offered, and what was imported of it."""

    def __init__(self, noun: str, kind: type[T], own: Mapping[str, str], others: EntryPoints) -> None:
        self._noun = noun
        self._kind = kind
        self.builtin = own
        self._others = others
        self._loaded: dict[str, T] = {}

    @cached_property
    def offers(self) -> Mapping[str, list[Offer]]:
        """All that is offered, by name; what is built in comes first."""
        offers = {name: [Offer(name, address)] for name, address in self.builtin.items()}
        for offer in self._others(f"syncret.{self._noun}s"):
            known = offers.setdefault(offer.name, [])
            if offer.address not in [each.address for each in known]:
                known.append(offer)
        return offers

    def get(self, name: str) -> T:
        if name not in self._loaded:
            self._loaded[name] = self._load(self._offer(name))
        return self._loaded[name]

    def broken(self) -> Iterator[BrokenEntry]:
        """The errors of all offers. Imports everything."""
        for name, offers in self.offers.items():
            if len(offers) > 1:
                yield self._taken(offers)
                continue
            try:
                self.get(name)
            except BrokenEntry as error:
                yield error

    def _offer(self, name: str) -> Offer:
        if name in self.builtin:  # these must not need a scan of all installed distributions
            return Offer(name, self.builtin[name])
        offers = self.offers.get(name)
        if offers is None:
            raise UnknownName(self._noun, name, self.offers.keys())
        if len(offers) > 1:
            raise self._taken(offers)
        return offers[0]

    def _taken(self, offers: list[Offer]) -> BrokenEntry:
        first, second, *_ = offers
        if first.distribution:
            message = f"{self._noun} {first.name!r} is offered twice, as {first} and as {second}"
            return BrokenEntry(message, hint="uninstall one of them")
        message = f"{self._noun} {first.name!r} is built in, and offered as {second} too, which is not used"
        return BrokenEntry(message, hint="uninstall it, or let it use another name")

    def _load(self, offer: Offer) -> T:
        module, _, attribute = offer.address.partition(":")
        try:
            found: object = getattr(import_module(module), attribute)
        except Exception as error:  # a module of another package may fail in any way
            cause = str(error) if isinstance(error, ImportError | AttributeError) else repr(error)
            raise self._unusable(offer, f" cannot be loaded from {offer}: {cause}") from error
        if not isinstance(found, self._kind):
            raise self._unusable(offer, f": {offer} is not a {self._kind.__name__}")
        if found.spec.name != offer.name:
            raise self._unusable(offer, f": {offer} calls itself {found.spec.name!r}")
        if offer.distribution:
            self._check_model(offer, found)
        return found

    def _check_model(self, offer: Offer, found: T) -> None:
        """Check the models of other distributions, so that they do not fail later; tests check ours."""
        from syncret.config.schema.shape import UnsupportedType, shape_of

        try:
            shape_of(found.spec.model)
        except (TypeError, UnsupportedType) as error:
            raise self._unusable(offer, f": the spec of {offer}: {error}") from error

    def _unusable(self, offer: Offer, problem: str) -> BrokenEntry:
        whole = offer.distribution or "syncret"
        text = f"{self._noun} {offer.name!r}{problem}".partition("\n")[0]
        return BrokenEntry(text, hint=f"repair or uninstall {whole}")


class _Names(Collection[str]):
    """The names of a table; builtin ones are found without a scan of all installed distributions."""

    def __init__(self, table: _Table[Any]) -> None:
        self._table = table

    def __contains__(self, name: object) -> bool:
        return name in self._table.builtin or name in self._table.offers

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.offers)

    def __len__(self) -> int:
        return len(self._table.offers)


class Registry:
    """All providers and generators of this installation. It is the `Catalog` of `syncret.config`."""

    def __init__(
        self,
        stores: Mapping[str, str] = builtin.STORES,
        generators: Mapping[str, str] = builtin.GENERATORS,
        entry_points: EntryPoints = installed,
        secret_apis: Mapping[str, str] = builtin.SECRET_APIS,
    ) -> None:
        self._providers = _Table[Provider[Any]]("provider", Provider, stores, entry_points)
        self._generators = _Table[Generator[Any]]("generator", Generator, generators, entry_points)
        self._secret_apis = secret_apis

    def provider(self, name: str) -> Provider[Any]:
        """The provider of one name. Raises UnknownName (a KeyError) or BrokenEntry."""
        return self._providers.get(name)

    def generator_type(self, kind: str) -> Generator[Any]:
        """The generator of one kind. Raises UnknownName (a KeyError) or BrokenEntry."""
        return self._generators.get(kind)

    def secret_apis(self, group: str) -> "SecretApis | None":
        """The secret APIs of the vendor whose resources are of that API group; None if there are none."""
        for suffix, address in self._secret_apis.items():
            if group == suffix or group.endswith(f".{suffix}"):
                module, _, attribute = address.partition(":")
                found: SecretApis = getattr(import_module(module), attribute)
                return found
        return None

    def store_names(self) -> Collection[str]:
        return _Names(self._providers)

    def store(self, name: str) -> SpecType[Any]:
        return self.provider(name).spec

    def generator_kinds(self) -> Collection[str]:
        return _Names(self._generators)

    def generator(self, kind: str) -> SpecType[Any]:
        return self.generator_type(kind).spec

    def broken(self) -> Iterator[BrokenEntry]:
        """What is wrong with any provider or generator. Imports all of them."""
        yield from self._providers.broken()
        yield from self._generators.broken()
