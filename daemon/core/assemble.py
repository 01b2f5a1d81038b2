"""Assembles the data of an ExternalSecret from the answers to its needs, with the origin of each key.

In ESO's order: the entries of `dataFrom` (`rewrite`, or else key conversion; key check; decoding; null
bytes), each laid over the one before, then `data` on top. The first failure ends it: half a secret is never
written.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from syncret.config.fields import Json
from syncret.config.paths import join
from syncret.config.resources.external_secret import (
    DataFrom,
    ExternalSecretSpec,
    RemoteReference,
    Rewrite,
    RewriteMerge,
)
from syncret.daemon.core import conversion
from syncret.daemon.core.needs import (
    Answer,
    Extract,
    Generate,
    Need,
    Read,
    Search,
    need_of,
    remote_ref,
    store_of,
)
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

Transform: TypeAlias = Callable[[str], Callable[[str], str]]
"""Compiles a template into a function from the old key to the new one. Both raise SyncError."""

_ENTRY_COST: Final = 30
_KEY_COST: Final = 4
_KEY_SIZE: Final = 100
"""The cost of each key in every step: keys are sorted, and a new map is made."""


def rewrite(
    operations: Sequence[Rewrite], values: Mapping[str, bytes], work: Work, *, transform: Transform
) -> dict[str, bytes]:
    """The values after all operations, one upon the other. Raises Malformed with the operation's place.

    Where several keys become one, the value of the last of them in alphabetical order stays.
    """
    current = dict(values)
    for index, operation in enumerate(operations):
        try:
            current = _apply(operation, current, work, transform)
        except SyncError as error:
            text = "transform.template" if operation.transform is not None else ""
            failed = error.within(f"failed rewrite operation[{index}]")
            raise failed.below(join(f"rewrite[{index}]", text)) from error
    return current


def _apply(
    operation: Rewrite, values: dict[str, bytes], work: Work, transform: Transform
) -> dict[str, bytes]:
    work.take(_KEY_COST * len(values), _KEY_SIZE * len(values))
    if operation.merge is not None:
        return _merge(operation.merge, values, work)
    if operation.regexp is not None:
        pattern, target = regexp.compile(operation.regexp.source, work), operation.regexp.target
        return {pattern.replace_all(key, target, work): values[key] for key in sorted(values)}
    if operation.transform is not None:
        rename = transform(operation.transform.template)
        return {rename(key): values[key] for key in sorted(values)}
    return values


def _merge(operation: RewriteMerge, values: dict[str, bytes], work: Work) -> dict[str, bytes]:
    merged, conflicts = _merged(operation, values, work)
    if conflicts and operation.conflict_policy != "Ignore":
        raise Malformed(
            f"merge failed with conflicts: {', '.join(conflicts)}",
            hint="conflictPolicy: Ignore lets the last one win",
        )
    if operation.strategy != "JSON":
        return {key: gojson.byte_value(value, work) for key, value in merged.items()}
    if not operation.into:
        raise Malformed(
            "merge failed with missing 'into' field", hint="name the key that takes the merged object"
        )
    return {**values, operation.into: gojson.marshal(merged, work, escape_html=False).encode()}


def _merged(
    operation: RewriteMerge, values: dict[str, bytes], work: Work
) -> tuple[dict[str, Json], list[str]]:
    """All members of all values, and the names of those met twice: a later value wins over an earlier one."""
    merged: dict[str, Json] = {}
    conflicts: list[str] = []
    for key in [*sorted(set(values).difference(operation.priority)), *operation.priority]:
        if key not in values:
            if operation.priority_policy == "IgnoreNotFound":
                continue
            raise Malformed(f'merge failed with key "{key}" not found in input map')
        try:
            members = gojson.unmarshal_object(values[key], work)
        except SyncError as error:
            raise error.within(f"merge failed: key {key!r}") from error
        work.take(_KEY_COST * len(members), _KEY_SIZE * len(members))
        conflicts += sorted(merged.keys() & members.keys())
        merged |= members
    return merged, conflicts


_LONGEST: Final = 100
"""Characters of an expression in a message."""

_POLICY: Final = "or say in target.deletionPolicy what absence means"
ABSENT: Final = f"correct the key or the property, {_POLICY}"


def _absent(need: Need) -> Malformed:
    """The error for an entry that does not exist, with its name at the provider."""
    match need:
        case Search(store=store, query=query):
            name = f" {query.name[:_LONGEST]}" if query.name else ""
            tags = " " + ", ".join(f"{tag}={value}" for tag, value in query.tags) if query.tags else ""
            where = f" below {query.path}" if query.path else ""
            return Malformed(
                f"nothing in {store} matches{name}{tags[:_LONGEST]}{where}",
                hint="correct path, name or tags of find; " + _POLICY,
            )
        case Generate(generator=generator):
            return Malformed(f"{generator.kind}/{generator.name} made nothing", hint=_POLICY)
        case Read(store=store, ref=ref) | Extract(store=store, ref=ref):
            version = f" in version {ref.version}" if ref.version else ""
            part = f" (property {ref.property})" if ref.property else ""
            return Malformed(f"{ref.key}{version}{part} does not exist in {store}", hint=ABSENT)


def unmatched(spec: ExternalSecretSpec) -> str:
    """The searches of a spec that gives no values, as the reason of a message; empty if it has none."""
    found = (need_of(spec, index, entry) for index, entry in enumerate(spec.data_from))
    reasons = dict.fromkeys(_absent(need).message for need in found if isinstance(need, Search))
    return f": {'; '.join(reasons)}" if reasons else ""


class Assembled(NamedTuple):
    """The data of a Secret before any template.

    `origins` says for each key which entry of the spec gave it, `missing` which entries found nothing.
    """

    data: dict[str, bytes]
    origins: dict[str, str]
    missing: list[str]

    def add(
        self, spec: ExternalSecretSpec, place: str, need: Need, found: Mapping[str, bytes] | None
    ) -> None:
        """Lay one more entry on top. A missing one is an error only with Retain, which keeps what exists."""
        if found is None:
            if spec.target.deletion_policy == "Retain":
                raise _absent(need).at(place)
            self.missing.append(place)
        else:
            self.data.update(found)
            self.origins.update(dict.fromkeys(found, place))


def assemble(
    spec: ExternalSecretSpec, answers: Mapping[Need, Answer], work: Work, *, transform: Transform
) -> Assembled:
    """The data of a spec. Raises the first SyncError that answers a need or comes of using an answer."""
    found = Assembled({}, {}, [])
    for index, entry in enumerate(spec.data_from):
        need = need_of(spec, index, entry)
        if need is not None:
            place = f"spec.dataFrom[{index}]"
            found.add(spec, place, need, _map_of(entry, answers[need], place, work, transform))
    for index, item in enumerate(spec.data):
        need = Read(store_of(spec, item), remote_ref(item.remote_ref))
        place = f"spec.data[{index}]"
        value = _value_of(item.remote_ref, item.secret_key, answers[need], place, work)
        found.add(spec, place, need, None if value is None else {item.secret_key: value})
    return found


def _map_of(
    entry: DataFrom, answer: Answer, place: str, work: Work, transform: Transform
) -> Mapping[str, bytes] | None:
    if answer is None:
        return None
    if isinstance(answer, SyncError):
        raise answer.at(place)
    if isinstance(answer, SecretBytes):
        raise TypeError(place)
    options = entry.find or entry.extract
    try:
        work.take(_KEY_COST * len(answer), _KEY_SIZE * len(answer))
        found: dict[str, bytes] = {key: value.raw for key, value in answer.items()}
        if entry.rewrite:
            found = rewrite(entry.rewrite, found, work, transform=transform)
        elif options is not None:
            found = conversion.convert_keys(options.conversion_strategy or "Default", found, work)
        found = conversion.validate_keys(found, work)
        if options is not None:
            found = conversion.decode_map(options.decoding_strategy or "None", found, work)
            conversion.check_null_bytes(options.null_byte_policy or "Ignore", found)
    except SyncError as error:
        raise error.at(place).below(place) from None
    return found


def _value_of(reference: RemoteReference, key: str, answer: Answer, place: str, work: Work) -> bytes | None:
    if answer is None:
        return None
    if isinstance(answer, SyncError):
        raise answer.at(place)
    if not isinstance(answer, SecretBytes):
        raise TypeError(place)
    try:
        work.step(_ENTRY_COST)
        value = conversion.decode(reference.decoding_strategy or "None", answer.raw, work)
        conversion.check_null_bytes(reference.null_byte_policy or "Ignore", {key: value})
    except SyncError as error:
        raise error.at(place) from None
    return value
