"""Makes the set of files of a Delivery from its Secrets and ConfigMaps, and the keyed digest of the set.

A set is never partial: where a source or a key is missing, what is live stays.
"""

import hmac
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from syncret.config.fields import LabelSelector
from syncret.config.meta import Document, member
from syncret.config.resources.delivery.delivery import DeliverySource, DeliverySpec
from syncret.config.resources.delivery.rules import chosen_keys
from syncret.config.resources.kinds import CONFIG_MAP, SECRET
from syncret.daemon.core import selectors
from syncret.daemon.core.secret import secret_data

MOST_MATCHES: Final = 256
MOST_FILES: Final = 256
MOST_BYTES: Final = 4 << 20
_DIGITS: Final = 12


class SourceMissing(Exception):
    """A Secret, a ConfigMap or a key does not exist yet."""


class Unfit(Exception):
    """The sources cannot make a set: two give one file, or there is too much."""


class SetFile(Struct, frozen=True, kw_only=True):
    """One file of a set, and where it comes from."""

    content: bytes
    source: str
    key: str

    def __repr__(self) -> str:
        return f"<SetFile {self.key} of {self.source}>"


class Objects(Struct, frozen=True, kw_only=True):
    """The source objects of a Delivery, by name."""

    secrets: Mapping[str, Document] = {}
    config_maps: Mapping[str, Document] = {}


def assemble(spec: DeliverySpec, objects: Objects) -> dict[str, SetFile]:
    """The files by name. Raises SourceMissing and Unfit, with the path of the field."""
    files: dict[str, SetFile] = {}
    is_there = False
    for number, source in enumerate(spec.sources):
        at = f"spec.sources[{number}]"
        for name, document in _documents(at, source, objects):
            is_there = True
            for file, each in _files(at, source, name, document):
                if file in files:
                    raise Unfit(
                        f'{at}: "{file}" already comes from {files[file].source} '
                        "(rename it with keys, or give a prefix)"
                    )
                files[file] = each
    if not is_there:
        raise SourceMissing("spec.sources: none of them exists")
    _check_size(files)
    return {name: files[name] for name in sorted(files)}


def set_digest(salt: bytes, places: Mapping[str, Mapping[str, bytes]]) -> str:
    """A digest of contents and their places, as 12 digits, which cannot be computed without the salt."""
    found = hmac.new(salt, digestmod="sha256")
    for place in sorted(places):
        _add(found, place.encode())
        for name in sorted(places[place]):
            _add(found, name.encode())
            _add(found, places[place][name])
        _add(found, b"")
    return found.hexdigest()[:_DIGITS]


def _add(digest: "hmac.HMAC", part: bytes) -> None:
    """Add one part with its length, so that the boundaries of parts matter."""
    digest.update(len(part).to_bytes(8) + part)


def _documents(at: str, source: DeliverySource, objects: Objects) -> Iterator[tuple[str, Document]]:
    if source.selector is not None:
        yield from _selected(at, source.selector, objects.secrets)
        return
    kind, name, known = (
        (SECRET, source.secret, objects.secrets)
        if source.secret
        else (CONFIG_MAP, source.config_map, objects.config_maps)
    )
    document = known.get(name)
    if document is not None:
        yield f"{kind.kind}/{name}", document
    elif not source.optional:
        raise SourceMissing(f"{at}: there is no {kind.kind} {name}")


def _selected(
    at: str, selector: LabelSelector, secrets: Mapping[str, Document]
) -> Iterator[tuple[str, Document]]:
    """The Secrets that match, in order of name; there may be none."""
    names = [
        name
        for name in sorted(secrets)
        if selectors.matches(selector, member(secrets[name], "metadata", "labels"))
    ]
    if len(names) > MOST_MATCHES:
        raise Unfit(f"{at}: {len(names)} Secrets match; at most {MOST_MATCHES} may")
    for name in names:
        yield f"{SECRET.kind}/{name}", secrets[name]


def _files(at: str, source: DeliverySource, name: str, document: Document) -> Iterator[tuple[str, SetFile]]:
    data = _data(document)
    chosen = chosen_keys(source) or {key: source.prefix + key for key in data}
    for key, file in chosen.items():
        if key not in data:
            raise SourceMissing(f'{at}: {name} has no key "{key}"')
        yield file, SetFile(content=data[key], source=name, key=key)


def _data(document: Document) -> dict[str, bytes]:
    if document["kind"] == SECRET.kind:
        return secret_data(document)
    texts = {key: text.encode(errors="surrogatepass") for key, text in member(document, "data").items()}
    return texts | {key: b64decode(text) for key, text in member(document, "binaryData").items()}


def _check_size(files: Mapping[str, SetFile]) -> None:
    size = sum(len(each.content) for each in files.values())
    if len(files) > MOST_FILES or size > MOST_BYTES:
        raise Unfit(
            f"spec.sources: {len(files)} files with {size:,} bytes; at most {MOST_FILES} with {MOST_BYTES:,} "
            "are delivered (choose keys, or make several Deliveries)"
        )


def chosen(files: Mapping[str, SetFile], only: Sequence[str]) -> dict[str, bytes]:
    """The contents of the files that a folder is to hold. Raises SourceMissing."""
    missing = [name for name in only if name not in files]
    if missing:
        raise SourceMissing(f'no source gives "{missing[0]}"')
    return {name: files[name].content for name in only or files}
