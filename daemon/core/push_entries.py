"""The entries that a PushSecret pushes to one store, from `data` and `dataTo`; conflicts are found first."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct

from syncret.config.meta import Document
from syncret.config.paths import join
from syncret.config.resources.push_secret import (
    PushConversion,
    PushData,
    PushDataTo,
    PushMatch,
    PushRemoteRef,
    PushRewrite,
    PushSecretSpec,
    PushStoreRef,
)
from syncret.config.resources.templates import Template
from syncret.config.spelling import did_you_mean, keys_hint
from syncret.daemon.core import conversion as keys
from syncret.daemon.core.assemble import Transform
from syncret.daemon.core.rendering import Rendering
from syncret.daemon.core.secret import SecretSink
from syncret.daemon.core.selectors import matches
from syncret.providers.errors import Malformed, OverBudget, SyncError
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

BUNDLE = "(bundle)"
_ENTRY_COST: Final = 10
_KEY_COST: Final = 5


class Store(NamedTuple):
    """A store as entries refer to it: by its name, or by its labels, as pairs."""

    kind: str
    name: str
    labels: frozenset[tuple[str, str]] = frozenset()

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


class Source(NamedTuple):
    """One Secret to push from, as a document and as its values."""

    document: Document
    data: Mapping[str, bytes]

    def __repr__(self) -> str:
        return f"<Source {self.document['metadata']['name']}>"


class PushEntry(NamedTuple):
    """One value on its way: from a key of the source (none: all of it, or a bundle) to a remote place."""

    secret_key: str
    target: RemoteTarget
    metadata: Any
    conversion: PushConversion
    bundle: Mapping[str, bytes] | None = None

    @property
    def status_key(self) -> str:
        """Under which name `status.syncedPushSecrets` keeps it."""
        return "/".join(filter(None, self.target))

    def as_data(self) -> PushData:
        """The entry as the status keeps it: enough to delete it again."""
        return PushData(
            match=PushMatch(
                secret_key=self.secret_key,
                remote_ref=PushRemoteRef(remote_key=self.target.remote_key, property=self.target.property),
            ),
            metadata=self.metadata,
            conversion_strategy=self.conversion,
        )


class Push(Struct, frozen=True):
    """One entry of a store; without an item it stays there as it is."""

    entry: PushEntry
    item: PushItem | None


class StoreEntries(Struct, frozen=True, kw_only=True):
    """The pushes of all sources to one store, up to the first entry that cannot be pushed."""

    store: Store
    pushes: tuple[Push, ...] = ()
    error: SyncError | None = None


def generated_source(namespace: str, data: Mapping[str, bytes]) -> Source:
    """The values of a generator, as a Secret that exists only while it is pushed."""
    metadata = {"name": "generated", "namespace": namespace}
    return _source({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque"}, data)


def rendered(template: Template, source: Source, rendering: Rendering, work: Work) -> Source:
    """The source with what the template renders laid over it, in memory alone. Raises Malformed."""
    document: Document = {**source.document, "metadata": dict(source.document["metadata"])}
    document["type"] = template.type  # none, where the template names none, as with the operator
    for field in ("labels", "annotations"):
        document["metadata"][field] = dict(document["metadata"].get(field, {}))
    values = dict(source.data)
    rendering.apply(template, SecretSink(document, values), source.data)
    work.make(2 * sum(map(len, values.values())))
    return _source(document, values)


def _source(secret: Document, data: Mapping[str, bytes]) -> Source:
    return Source(secret | {"data": {key: b64encode(value).decode() for key, value in data.items()}}, data)


def check_store_refs(spec: PushSecretSpec) -> None:
    """Every dataTo entry names a store that the PushSecret lists."""
    named = {(ref.kind, ref.name) for ref in spec.secret_store_refs if ref.name}
    for index, entry in enumerate(spec.data_to):
        ref, place = entry.store_ref, f"dataTo[{index}]"
        if ref is None:
            raise Malformed("storeRef is required").at(place)
        if not ref.name and ref.label_selector is None:
            raise Malformed("storeRef must have name or labelSelector").at(place)
        if ref.name and (ref.kind, ref.name) not in named:
            hint = did_you_mean(ref.name, sorted(name for kind, name in named if kind == ref.kind))
            raise Malformed(
                f'storeRef "{ref.name}" not found in secretStoreRefs',
                hint=hint or f"name a {ref.kind} under secretStoreRefs",
            ).at(place)


def check_selectors(spec: PushSecretSpec, stores: Sequence[Store]) -> None:
    """Every dataTo entry that selects by label must match a store: a typo must not silently push nothing."""
    for index, entry in enumerate(spec.data_to):
        ref = entry.store_ref
        if ref is not None and not ref.name and not any(_meant_for(ref, store) for store in stores):
            raise Malformed("labelSelector does not match any store in secretStoreRefs").at(
                f"dataTo[{index}]"
            )


def entries(
    spec: PushSecretSpec, source: Mapping[str, bytes], store: Store, work: Work, *, transform: Transform
) -> tuple[PushEntry, ...]:
    """Everything to push to `store`; raises Malformed, naming all that collide, before anything is pushed."""
    expanded = _expand(spec, source, store, work, transform)
    explicit = {
        _original_key(item, source, work, f"spec.data[{index}]") for index, item in enumerate(spec.data)
    }
    merged = [entry for entry in expanded if entry.secret_key not in explicit]
    merged += [
        PushEntry(
            item.match.secret_key,
            RemoteTarget(item.match.remote_ref.remote_key, item.match.remote_ref.property),
            item.metadata,
            item.conversion_strategy,
        )
        for item in spec.data
    ]
    _check_unique(merged)
    return tuple(merged)


def store_entries(
    spec: PushSecretSpec, sources: Iterable[Source], store: Store, work: Work, *, transform: Transform
) -> StoreEntries:
    """The pushes to a store, source by source; collisions of a source are found before its pushes."""
    pushes: list[Push] = []
    error: SyncError | None = None
    try:
        for source in sources:
            for entry in entries(spec, source.data, store, work, transform=transform):
                try:
                    pushes.append(Push(entry, _item(entry, source, work)))  # those before an error count
                except SyncError as refused:
                    raise refused.below(field_of_push(spec, entry)) from None
    except SyncError as raised:
        error = raised
    return StoreEntries(store=store, pushes=tuple(pushes), error=error)


def field_of_push(spec: PushSecretSpec, entry: PushEntry) -> str:
    """The entry of `data` that a push comes from; empty for what `dataTo` makes."""
    for index, item in enumerate(spec.data):
        remote = item.match.remote_ref
        if (item.match.secret_key, remote.remote_key, remote.property) == (entry.secret_key, *entry.target):
            return f"spec.data[{index}]"
    return ""


def _item(entry: PushEntry, source: Source, work: Work) -> PushItem:
    work.step(_ENTRY_COST)
    return PushItem(
        remote_key=entry.target.remote_key,
        property=entry.target.property,
        value=payload(entry, source.data, work),
        metadata=entry.metadata,
        secret_key=entry.secret_key,
        source=source.document,
    )


def payload(entry: PushEntry, source: Mapping[str, bytes], work: Work) -> SecretBytes:
    """The value of an entry: one key's bytes, or all keys as one JSON object of strings. Raises Malformed."""
    try:
        data = keys.reverse_keys(entry.conversion, source if entry.bundle is None else entry.bundle, work)
    except SyncError as error:
        raise error.within("could not apply conversion strategy to keys") from error
    if not entry.secret_key:
        text = {key: gojson.text(value) for key, value in data.items()}
        return SecretBytes(gojson.marshal(text, work, escape_html=False).encode())
    if entry.secret_key not in data:
        raise Malformed(
            f"secret key {entry.secret_key} does not exist",
            hint=keys_hint(entry.secret_key, data),
        )
    return SecretBytes(data[entry.secret_key])


def _expand(
    spec: PushSecretSpec, source: Mapping[str, bytes], store: Store, work: Work, transform: Transform
) -> list[PushEntry]:
    found: list[PushEntry] = []
    taken: dict[str, str] = {}
    clashes: list[str] = []
    meant = [
        (number, entry)
        for number, entry in enumerate(spec.data_to)
        if entry.store_ref is not None and _meant_for(entry.store_ref, store)
    ]
    for index, (number, entry) in enumerate(meant):
        place = f"failed to expand dataTo: dataTo[{index}]"
        try:
            for source_key, made in _expand_one(entry, source, work, transform):
                work.step(_ENTRY_COST)
                remote = made.target.remote_key
                if remote in taken:
                    clashes.append(
                        f'duplicate remote key "{remote}" from source key "{source_key}"'
                        f" (conflicts with {taken[remote]})"
                    )
                taken.setdefault(remote, f"dataTo[{index}]:{source_key}")
                found.append(made)
        except SyncError as error:
            raise error.at(place).below(f"spec.dataTo[{number}]") from None
        if clashes:
            raise Malformed("; ".join(clashes)).at(place)
    return found


def _expand_one(
    entry: PushDataTo, source: Mapping[str, bytes], work: Work, transform: Transform
) -> list[tuple[str, PushEntry]]:
    """Converted source keys with the entry each becomes: one a key, or one for all of them (a bundle)."""
    try:
        converted = keys.reverse_keys(entry.conversion_strategy, source, work)
    except SyncError as error:
        raise error.within("conversion failed") from error
    original = {keys.reverse(entry.conversion_strategy, key): key for key in source}
    pattern = entry.match.regexp if entry.match is not None else ""
    try:
        wanted = regexp.compile(pattern, work) if pattern else None
    except regexp.PatternError as error:
        problem = f'failed to compile regexp pattern "{pattern}": {error.reason}'
        raise Malformed(f"match failed: {problem}") from error
    matched = [key for key in sorted(converted) if wanted is None or wanted.search(key, work)]
    if not matched:
        return []  # their operations are not validated, as with the operator
    if entry.remote_key:
        bundle = {key: converted[key] for key in matched}
        target = RemoteTarget(entry.remote_key)
        return [(BUNDLE, PushEntry("", target, entry.metadata, "None", bundle))]
    made: list[tuple[str, PushEntry]] = []
    for key, remote in _rewritten(entry.rewrite, matched, work, transform).items():
        if not remote:
            raise Malformed(f'empty remote key produced for source key "{key}"')
        made.append((key, PushEntry(original[key], RemoteTarget(remote), entry.metadata, "None")))
    return made


def _rewritten(
    operations: Sequence[PushRewrite], names: Sequence[str], work: Work, transform: Transform
) -> dict[str, str]:
    renamed = {name: name for name in names}
    for index, operation in enumerate(operations):
        place = f"rewrite failed: rewrite[{index}]"
        try:
            apply = _compiled(operation, work, transform)
        except SyncError as error:
            raise error.within(place).below(_field_of(operation, index)) from error
        for name, current in renamed.items():
            work.step(_ENTRY_COST)
            try:
                renamed[name] = apply(current)
            except SyncError as error:
                failed = error.within(f'{place} on key "{current}": template exec')
                raise failed.below(_field_of(operation, index)) from error
    return renamed


def _field_of(operation: PushRewrite, index: int) -> str:
    return join(f"rewrite[{index}]", "transform.template" if operation.transform is not None else "regexp")


def _compiled(operation: PushRewrite, work: Work, transform: Transform) -> Callable[[str], str]:
    if operation.regexp is not None:
        try:
            pattern = regexp.compile(operation.regexp.source, work)
        except regexp.PatternError as error:
            problem = f'invalid regexp "{operation.regexp.source}": {error.reason}'
            raise Malformed(problem) from error
        target = operation.regexp.target
        return lambda key: pattern.replace_all(key, target, work)
    if operation.transform is not None:
        try:
            return transform(operation.transform.template)
        except SyncError as error:
            raise error.within("invalid template") from error
    return lambda key: key


def _meant_for(ref: PushStoreRef, store: Store) -> bool:
    if ref.kind != store.kind:
        return False
    if ref.name:
        return ref.name == store.name
    return ref.label_selector is not None and matches(ref.label_selector, dict(store.labels))


def _original_key(item: PushData, source: Mapping[str, bytes], work: Work, field: str) -> str:
    """The key of the source behind an explicit entry, which may name it as it is after conversion."""
    wanted = item.match.secret_key
    if item.conversion_strategy == "None":
        return wanted
    try:
        work.step(_KEY_COST * len(source))
    except OverBudget as error:
        raise error.below(field) from None
    return next((key for key in source if keys.reverse(item.conversion_strategy, key) == wanted), wanted)


def _check_unique(merged: Sequence[PushEntry]) -> None:
    seen: dict[RemoteTarget, list[str]] = {}
    for entry in merged:
        seen.setdefault(entry.target, []).append(entry.secret_key)
    clashes: list[str] = []
    for target, sources in seen.items():
        if len(sources) > 1:
            where = f' with property "{target.property}"' if target.property else ""
            listed = " and ".join(f'"{key}"' for key in sources)
            all_of_them = "both" if len(sources) == 2 else "all"  # noqa: PLR2004  # as it says
            clashes.append(
                f'duplicate remote key "{target.remote_key}"{where}: '
                f"source keys {listed} {all_of_them} map to the same destination"
            )
    if clashes:
        raise Malformed("failed to merge data entries: " + "; ".join(clashes))
