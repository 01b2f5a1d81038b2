"""Documents fit to be shown: the same shape, without a single secret value."""

from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object, member
from syncret.daemon.core.labels import DATA_HASH, MANAGED

REDACTED: Final = "<redacted>"
STORES: Final = ("SecretStore", "ClusterSecretStore")
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
TELLING: Final = (LAST_APPLIED, DATA_HASH)
"""Annotations: the former repeats the values, from the latter a short one can be guessed."""


def redacted(document: Document) -> Document:
    """The document with every value of a Secret, of an embedded store and of a managed object taken out."""
    shown = dict(document)
    kind = document.get("kind")
    if kind == "Secret":
        _hide_members(shown, "data", "stringData")
    elif kind in STORES:
        shown["spec"] = _store_spec(shown.get("spec"))
    elif kind in ("Fake", "ClusterGenerator"):
        shown["spec"] = _fake_generator(shown.get("spec"))
    elif member(document, "metadata", "labels").get(MANAGED) == "true":
        for field in ("data", "binaryData", "spec"):
            if field in shown:
                shown[field] = _all_values(shown[field])
    annotations = member(document, "metadata", "annotations")
    hidden = dict.fromkeys((name for name in TELLING if name in annotations), REDACTED)
    if hidden:
        shown["metadata"] = {**document["metadata"], "annotations": {**annotations, **hidden}}
    return shown


def _hide_members(shown: Document, *fields: str) -> None:
    for field in fields:
        if is_object(shown.get(field)):
            shown[field] = dict.fromkeys(shown[field], REDACTED)


def _store_spec(spec: Json) -> Json:
    """A `fake` provider carries its values in its spec; all other specs refer to them."""
    if not is_object(spec):
        return spec
    provider = member(spec, "provider")
    entries: Json = member(provider, "fake").get("data")
    if not is_list(entries):
        return spec
    hidden = [_entry(entry) for entry in entries]
    return {**spec, "provider": {**provider, "fake": {**provider["fake"], "data": hidden}}}


def _entry(entry: Json) -> Json:
    return {**entry, "value": REDACTED} if is_object(entry) and "value" in entry else entry


def _fake_generator(spec: Json) -> Json:
    if not is_object(spec):
        return spec
    shown = dict(spec)
    _hide_members(shown, "data")
    inner = member(spec, "generator")
    if "fakeSpec" in inner:
        shown["generator"] = {**inner, "fakeSpec": _fake_generator(inner["fakeSpec"])}
    return shown


def _all_values(value: Json) -> Json:
    """Every text below, hidden; the keys stay, they say what was written."""
    if is_object(value):
        return {key: _all_values(inner) for key, inner in value.items()}
    if is_list(value):
        return [_all_values(inner) for inner in value]
    return REDACTED if isinstance(value, str) else value
