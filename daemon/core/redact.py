"""Documents fit to be shown: the same shape, without a single secret value."""

from typing import Any, Final

from syncret.config.meta import Document
from syncret.daemon.core.labels import DATA_HASH, MANAGED

REDACTED: Final = "<redacted>"
STORES: Final = ("SecretStore", "ClusterSecretStore")
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def redacted(document: Document) -> Document:
    """The document with every value of a Secret, of an embedded store and of a managed object taken out."""
    shown = dict(document)
    kind, metadata = document.get("kind"), document.get("metadata")
    if kind == "Secret":
        for field in ("data", "stringData"):
            if isinstance(shown.get(field), dict):
                shown[field] = dict.fromkeys(shown[field], REDACTED)
    elif kind in STORES:
        shown["spec"] = _store_spec(shown.get("spec"))
    elif kind in ("Fake", "ClusterGenerator"):
        shown["spec"] = _fake_generator(shown.get("spec"))
    if not isinstance(metadata, dict):
        return shown
    annotations = metadata.get("annotations") or {}
    telling = [
        name for name in (LAST_APPLIED, DATA_HASH) if isinstance(annotations, dict) and name in annotations
    ]
    if telling:  # the former repeats the values, from the latter a short one can be guessed
        shown["metadata"] = {**metadata, "annotations": {**annotations, **dict.fromkeys(telling, REDACTED)}}
    labels = metadata.get("labels")
    if kind != "Secret" and isinstance(labels, dict) and labels.get(MANAGED) == "true":
        for field in ("data", "binaryData", "spec"):
            if field in shown:
                shown[field] = _all_values(shown[field])
    return shown


def _store_spec(spec: Any) -> Any:
    """A `fake` provider carries its values in its spec; all other specs refer to them."""
    try:
        entries = spec["provider"]["fake"]["data"]
        hidden = [{**entry, "value": REDACTED} if "value" in entry else entry for entry in entries]
    except (KeyError, TypeError):
        return spec
    provider = {**spec["provider"], "fake": {**spec["provider"]["fake"], "data": hidden}}
    return {**spec, "provider": provider}


def _fake_generator(spec: Any) -> Any:
    if not isinstance(spec, dict):
        return spec
    shown = dict(spec)
    if isinstance(spec.get("data"), dict):
        shown["data"] = dict.fromkeys(spec["data"], REDACTED)
    inner = spec.get("generator")
    if isinstance(inner, dict) and "fakeSpec" in inner:
        shown["generator"] = {**inner, "fakeSpec": _fake_generator(inner["fakeSpec"])}
    return shown


def _all_values(value: Any) -> Any:
    """Every text below, hidden; the keys stay, they say what was written."""
    if isinstance(value, dict):
        return {key: _all_values(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_all_values(inner) for inner in value]
    return REDACTED if isinstance(value, str) else value
