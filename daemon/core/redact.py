"""Redacts documents for output: the same structure without secret values."""

from collections.abc import Callable, Container, Mapping
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object, member
from syncret.config.resources.kinds import SECRET, Role, kind_named
from syncret.daemon.core.ownership import DATA_HASH, MANAGED

REDACTED: Final = "<redacted>"
SHOWN_OF_SECRET: Final = ("apiVersion", "kind", "type")
NEVER_RENDERED: Final = ("apiVersion", "kind", "metadata", "status")
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
REVEALING_ANNOTATIONS: Final = (LAST_APPLIED, DATA_HASH)
"""Annotations that reveal values: the first contains them, from the second a short one can be guessed."""


def redacted(document: Document) -> Document:
    """The document without the values of a Secret, a `fake` store or generator, or a managed object."""
    shown = dict(document)
    name: Json = document.get("kind")
    kind = kind_named(name) if isinstance(name, str) else None  # in any group: better to hide too much
    if kind == SECRET:
        shown = _only(document, SHOWN_OF_SECRET, "data", "stringData")
    elif kind is not None and kind.role in _SPECS:
        _replace(shown, "spec", _SPECS[kind.role])
    elif name == "Fake":
        _replace(shown, "spec", _fake_generator)
    if kind != SECRET and member(document, "metadata", "labels").get(MANAGED) == "true":
        # a template may have put a value anywhere
        shown = {
            name: value if name in NEVER_RENDERED else _all_values(value) for name, value in shown.items()
        }
    annotations = member(document, "metadata", "annotations")
    hidden = dict.fromkeys((name for name in REVEALING_ANNOTATIONS if name in annotations), REDACTED)
    if hidden:
        shown["metadata"] = {**document["metadata"], "annotations": {**annotations, **hidden}}
    return shown


# Malformed documents are redacted, too: a member without the expected structure is hidden completely.
def _replace(shown: Document, name: str, redact: Callable[[Document], Document]) -> None:
    """Redact one member, if it exists."""
    if name in shown:
        value: Json = shown[name]
        shown[name] = redact(value) if is_object(value) else _hidden(value)


def _only(document: Document, plain: Container[str], *maps: str) -> Document:
    """Keep the members in `plain`, the keys of the members in `maps`, and the names of all others."""
    shown: Document = {}
    for name in document:
        value: Json = document[name]
        if name in maps and is_object(value):
            shown[name] = dict.fromkeys(value, REDACTED)
        elif name == "metadata" or (name in plain and not is_object(value) and not is_list(value)):
            shown[name] = value
        else:
            shown[name] = _hidden(value)
    return shown


def _hidden(value: Json) -> Json:
    """The placeholder for a member that may be or contain a value."""
    return value if value is None or isinstance(value, bool) else REDACTED


def _store_spec(spec: Document) -> Document:
    """The spec of a `fake` store contains its values; those of all other providers refer to them."""
    shown = dict(spec)
    _replace(shown, "provider", _provider)
    return shown


def _provider(provider: Document) -> Document:
    shown = dict(provider)
    _replace(shown, "fake", _fake_provider)
    return shown


def _fake_provider(fake: Document) -> Document:
    shown = _only(fake, ("validationResult",))
    entries: Json = fake.get("data")
    if is_list(entries):
        shown["data"] = [
            _only(entry, ("key", "version")) if is_object(entry) else _hidden(entry) for entry in entries
        ]
    return shown


def _fake_generator(spec: Document) -> Document:
    return _only(spec, ("controller",), "data")


def _cluster_generator(spec: Document) -> Document:
    shown = dict(spec)
    _replace(shown, "generator", _with_fake)
    return shown


def _with_fake(generator: Document) -> Document:
    shown = dict(generator)
    _replace(shown, "fakeSpec", _fake_generator)
    return shown


def _generator_state(spec: Document) -> Document:
    """The copy of the generator is redacted as a manifest; its state may contain credentials."""
    shown = dict(spec)
    _replace(shown, "resource", redacted)
    if "state" in shown:
        shown["state"] = _all_values(shown["state"])
    return shown


_SPECS: Final[Mapping[Role, Callable[[Document], Document]]] = {
    "store": _store_spec,
    "generator": _cluster_generator,
    "record": _generator_state,
}


def _all_values(value: Json) -> Json:
    """Hide every text in the value, and keep the keys."""
    if is_object(value):
        return {key: _all_values(inner) for key, inner in value.items()}
    if is_list(value):
        return [_all_values(inner) for inner in value]
    return REDACTED if isinstance(value, str) else value
