"""The needs of an ExternalSecret: every read that it requires, once each, known before the first await."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from syncret.config.resources.external_secret import (
    Data,
    DataFrom,
    ExternalSecretSpec,
    Find,
    GeneratorRef,
    RemoteReference,
    StoreRef,
)
from syncret.config.resources.kinds import SECRET_STORE
from syncret.providers.errors import SyncError
from syncret.providers.values import FindQuery, RemoteRef, SecretBytes, SecretMap


class StoreName(NamedTuple):
    """A store as a resource names it; a SecretStore is looked for in the resource's own namespace."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


class Read(Struct, frozen=True):
    """One value.

    The kinds of needs are not tuples: a value and a map read from the same place must not be equal.
    """

    store: StoreName
    ref: RemoteRef


class Extract(Struct, frozen=True):
    """One value as a map of keys."""

    store: StoreName
    ref: RemoteRef


class Search(Struct, frozen=True):
    """All entries that match."""

    store: StoreName
    query: FindQuery


class Generate(Struct, frozen=True):
    """New values of a generator. The place distinguishes two entries with the same generator."""

    place: int
    generator: GeneratorRef


Need: TypeAlias = Read | Extract | Search | Generate
Answer: TypeAlias = SecretBytes | SecretMap | SyncError | None
"""The answer to a need: a value, a map, the error of that need alone, or None if it does not exist."""


def store_name(spec: ExternalSecretSpec, override: StoreRef | None = None) -> StoreName:
    """The store an entry reads from: its own, or the one of the whole spec."""
    ref = override or spec.secret_store_ref
    return _store(ref.kind or SECRET_STORE.kind, ref.name)


_store = lru_cache(maxsize=1024)(StoreName)
"""Cached, since thousands of entries share a name."""


def store_of(spec: ExternalSecretSpec, item: Data) -> StoreName:
    """The store that an entry of `data` reads from.

    A generator gives no single keys: if one is named here, no store is read, as in the operator.
    """
    source = item.source_ref
    if source is not None and source.store_ref is None:
        return _store(SECRET_STORE.kind, "")
    return store_name(spec, source.store_ref if source else None)


def remote_ref(reference: RemoteReference) -> RemoteRef:
    """The part of a remoteRef that decides what is fetched."""
    return RemoteRef(
        reference.key, reference.property, reference.version, metadata=reference.metadata_policy == "Fetch"
    )


def find_query(find: Find) -> FindQuery:
    """The part of a find that decides what is looked for."""
    return FindQuery(
        name=find.name.regexp if find.name is not None else None,
        path=find.path,
        tags=tuple(sorted(find.tags.items())) if find.tags else None,
        conversion="Unicode" if find.conversion_strategy == "Unicode" else "Default",
    )


def need_of(spec: ExternalSecretSpec, index: int, entry: DataFrom) -> Need | None:
    """The need of one dataFrom entry; None for an entry without a source."""
    source = entry.source_ref
    store = store_name(spec, source.store_ref if source else None)
    if entry.find is not None:
        return Search(store, find_query(entry.find))
    if entry.extract is not None:
        return Extract(store, remote_ref(entry.extract))
    if source is not None and source.generator_ref is not None:
        return Generate(index, source.generator_ref)
    return None


def needs(spec: ExternalSecretSpec) -> tuple[Need, ...]:
    """Every need of the spec once, in the order of first appearance."""
    return tuple(dict.fromkeys(_needs(spec)))


def first(spec: ExternalSecretSpec) -> Need | None:
    """The first need, if there is any."""
    return next(_needs(spec), None)


def _needs(spec: ExternalSecretSpec) -> Iterator[Need]:
    for index, entry in enumerate(spec.data_from):
        need = need_of(spec, index, entry)
        if need is not None:
            yield need
    for item in spec.data:
        yield Read(store_of(spec, item), remote_ref(item.remote_ref))


def stores(spec: ExternalSecretSpec) -> tuple[StoreName, ...]:
    """Every store that the spec names, whether or not anything is read from it."""
    named = [store_name(spec)] if spec.secret_store_ref.name else []
    for index, entry in enumerate(spec.data_from):
        need = need_of(spec, index, entry)
        if need is not None and not isinstance(need, Generate):
            named.append(need.store)
    named += [store_of(spec, item) for item in spec.data]
    return tuple(dict.fromkeys(named))


def generators(spec: ExternalSecretSpec) -> tuple[GeneratorRef, ...]:
    """Every generator that the spec names, once."""
    sources = [entry.source_ref for entry in spec.data_from]
    named = [each.generator_ref for each in sources if each is not None and each.generator_ref is not None]
    return tuple(dict.fromkeys(named))
