"""Assembles the data of an ExternalSecret from the answers to its needs; each key knows where it came from.

In ESO's order: the entries of `dataFrom` (rewriting, or else key conversion; key check; decoding; null
bytes), each laid over the one before, then `data` on top. The first failure ends it: half a secret is never
written.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from syncret.config.resources.external_secret import DataFrom, ExternalSecretSpec, RemoteReference
from syncret.daemon.core import decoding, keys, rewriting
from syncret.daemon.core.needs import Answer, Need, Read, need_of, remote_ref, store_of
from syncret.daemon.core.rewriting import Transform
from syncret.providers.contract import SecretBytes
from syncret.providers.errors import Malformed, SyncError

ABSENT: Final = "correct the key or the property, or say in target.deletionPolicy what absence means"


class Assembled(NamedTuple):
    """The data of a Secret before any template.

    `origins` says for each key which entry of the spec gave it, `missing` which entries found nothing.
    """

    data: dict[str, bytes]
    origins: dict[str, str]
    missing: tuple[str, ...]


def assemble(spec: ExternalSecretSpec, answers: Mapping[Need, Answer], *, transform: Transform) -> Assembled:
    """The data of a spec. Raises the first SyncError that answers a need or comes of using an answer."""
    result = Assembled({}, {}, ())
    for index, entry in enumerate(spec.data_from):
        need = need_of(spec, index, entry)
        if need is not None:
            place = f"spec.dataFrom[{index}]"
            result = _lay(spec, result, place, _map_of(entry, answers[need], place, transform))
    for index, item in enumerate(spec.data):
        need = Read(store_of(spec, item), remote_ref(item.remote_ref))
        place = f"spec.data[{index}]"
        value = _value_of(item.remote_ref, item.secret_key, answers[need], place)
        result = _lay(spec, result, place, None if value is None else {item.secret_key: value})
    return result


def _lay(
    spec: ExternalSecretSpec, below: Assembled, place: str, found: Mapping[str, bytes] | None
) -> Assembled:
    """One more entry on top. Absence is data: it is a failure only under Retain, which keeps what exists."""
    if found is None:
        if spec.target.deletion_policy == "Retain":
            raise Malformed("the secret does not exist at the provider", hint=ABSENT).at(place)
        return below._replace(missing=(*below.missing, place))
    below.data.update(found)
    below.origins.update(dict.fromkeys(found, place))
    return below


def _map_of(entry: DataFrom, answer: Answer, place: str, transform: Transform) -> Mapping[str, bytes] | None:
    if answer is None:
        return None
    if isinstance(answer, SyncError):
        raise answer.at(place)
    if isinstance(answer, SecretBytes):
        raise TypeError(place)
    found: dict[str, bytes] = {key: value.raw for key, value in answer.items()}
    options = entry.find or entry.extract
    try:
        if entry.rewrite:
            found = rewriting.rewrite(entry.rewrite, found, transform=transform)
        elif options is not None:
            found = keys.convert_keys(options.conversion_strategy or "Default", found)
        found = keys.validate_keys(found)
        if options is not None:
            found = decoding.decode_map(options.decoding_strategy or "None", found)
            decoding.check_null_bytes(options.null_byte_policy or "Ignore", found)
    except SyncError as error:
        raise error.at(place) from None
    return found


def _value_of(reference: RemoteReference, key: str, answer: Answer, place: str) -> bytes | None:
    if answer is None:
        return None
    if isinstance(answer, SyncError):
        raise answer.at(place)
    if not isinstance(answer, SecretBytes):
        raise TypeError(place)
    try:
        value = decoding.decode(reference.decoding_strategy or "None", answer.raw)
        decoding.check_null_bytes(reference.null_byte_policy or "Ignore", {key: value})
    except SyncError as error:
        raise error.at(place) from None
    return value
