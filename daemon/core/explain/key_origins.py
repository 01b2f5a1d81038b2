"""The origin of each key of an output: store, entry of the spec, and the steps that change it."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from syncret.config.resources.external_secret import (
    Data,
    DataFrom,
    ExternalSecretSpec,
    Find,
    RemoteReference,
    Rewrite,
    RewriteMerge,
)
from syncret.config.resources.push_secret import PushDataTo, PushRewrite, PushSecretSpec, PushStoreRef
from syncret.daemon.core.needs import store_name, store_of


class KeyOrigin(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One key; or, without `key`, all keys of one entry, as long as they are not known yet."""

    key: str = ""
    field: str
    source: str
    remote_key: str = ""
    property: str = ""
    version: str = ""
    steps: tuple[str, ...] = ()


def of_external_secret(spec: ExternalSecretSpec, origins: Mapping[str, str]) -> tuple[KeyOrigin, ...]:
    """The origin of every key. `origins` has the entry of each key that this process has fetched."""
    return tuple(_keys(spec, origins))


def of_push_secret(spec: PushSecretSpec) -> tuple[KeyOrigin, ...]:
    """The destinations of the keys of a PushSecret."""
    return tuple(_pushes(spec))


def _keys(spec: ExternalSecretSpec, origins: Mapping[str, str]) -> Iterator[KeyOrigin]:
    for index, entry in enumerate(spec.data_from):
        place = f"spec.dataFrom[{index}]"
        origin = _of_data_from(spec, entry, place)
        keys = sorted(key for key, field in origins.items() if field == place)
        if keys:
            yield from (msgspec.structs.replace(origin, key=key) for key in keys)
        elif not origins:
            yield origin
    last = {item.secret_key: index for index, item in enumerate(spec.data)}
    for index, item in enumerate(spec.data):
        if last[item.secret_key] == index:
            yield _of_data(spec, item, f"spec.data[{index}]")


def _of_data(spec: ExternalSecretSpec, item: Data, place: str) -> KeyOrigin:
    store = store_of(spec, item)
    reference = item.remote_ref
    return KeyOrigin(
        key=item.secret_key,
        field=place,
        source=str(store),
        remote_key=reference.key,
        property=reference.property,
        version=reference.version,
        steps=tuple(_read(reference)) + tuple(_decoded(reference)),
    )


def _of_data_from(spec: ExternalSecretSpec, entry: DataFrom, place: str) -> KeyOrigin:
    source = entry.source_ref
    if source is not None and source.generator_ref is not None:
        generator = source.generator_ref
        steps = ("generated anew at each refresh", *_renamed(entry.rewrite))
        return KeyOrigin(field=place, source=f"{generator.kind}/{generator.name}", steps=steps)
    store = str(store_name(spec, source.store_ref if source else None))
    if entry.extract is not None:
        reference = entry.extract
        steps = (*_read(reference), "one key for each member of the value", *_converted(entry, reference))
        return KeyOrigin(
            field=place,
            source=store,
            remote_key=reference.key,
            property=reference.property,
            version=reference.version,
            steps=steps,
        )
    if entry.find is not None:
        steps = (_searched(entry.find), *_converted(entry, entry.find))
        return KeyOrigin(field=place, source=store, steps=steps)
    return KeyOrigin(field=place, source=store, steps=("asks for nothing",))


def _read(reference: RemoteReference) -> Iterator[str]:
    if reference.metadata_policy == "Fetch":
        yield "the metadata of the entry instead of its value"


def _searched(find: Find) -> str:
    terms: list[str] = []
    if find.path is not None:
        terms.append(f"under {find.path}")
    if find.name is not None:
        terms.append(f"whose name matches {find.name.regexp}")
    if find.tags:
        terms.append("tagged " + ", ".join(f"{key}={value}" for key, value in sorted(find.tags.items())))
    return "every entry " + " and ".join(terms or ["there is"])


def _converted(entry: DataFrom, options: RemoteReference | Find) -> Iterator[str]:
    if entry.rewrite:
        yield from _renamed(entry.rewrite)
    else:
        yield f"characters that a key cannot hold replaced ({options.conversion_strategy or 'Default'})"
    yield from _decoded(options)


def _renamed(rewrites: Sequence[Rewrite]) -> Iterator[str]:
    for rewrite in rewrites:
        yield _merged(rewrite.merge) if rewrite.merge is not None else _rewritten(rewrite)


def _merged(merge: RewriteMerge) -> str:
    into = f"into {merge.into}" if merge.strategy == "JSON" else "into one set of keys"
    order = f", {', '.join(merge.priority)} last" if merge.priority else ""
    return f"values merged {into}{order}"


def _decoded(options: RemoteReference | Find) -> Iterator[str]:
    if options.decoding_strategy not in {None, "None"}:
        yield f"value decoded ({options.decoding_strategy})"
    if options.null_byte_policy == "Fail":
        yield "refused if it holds a null byte"


def _pushes(spec: PushSecretSpec) -> Iterator[KeyOrigin]:
    stores = ", ".join(_store(ref) for ref in spec.secret_store_refs)
    for index, item in enumerate(spec.data):
        reversed_ = item.conversion_strategy == "ReverseUnicode"
        yield KeyOrigin(
            key=item.match.secret_key or "(all keys, as one JSON object)",
            field=f"spec.data[{index}]",
            source=stores,
            remote_key=item.match.remote_ref.remote_key,
            property=item.match.remote_ref.property,
            steps=("keys converted back (ReverseUnicode)",) if reversed_ else (),
        )
    for index, entry in enumerate(spec.data_to):
        yield KeyOrigin(
            field=f"spec.dataTo[{index}]",
            source=_store(entry.store_ref) if entry.store_ref is not None else stores,
            remote_key=entry.remote_key,
            steps=tuple(_selected(entry)),
        )


def _store(ref: PushStoreRef) -> str:
    return f"{ref.kind}/{ref.name or '(by labels)'}"


def _selected(entry: PushDataTo) -> Iterator[str]:
    pattern = entry.match.regexp if entry.match is not None else ""
    yield f"keys that match {pattern}" if pattern else "every key"
    if entry.conversion_strategy == "ReverseUnicode":
        yield "keys converted back (ReverseUnicode)"
    yield from map(_rewritten, entry.rewrite)
    yield "all in one entry" if entry.remote_key else "each under its own name"


def _rewritten(rewrite: Rewrite | PushRewrite) -> str:
    if rewrite.regexp is not None:
        return f"keys renamed: {rewrite.regexp.source} -> {rewrite.regexp.target or '(nothing)'}"
    return "keys renamed by a template"
