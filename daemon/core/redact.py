"""Documents fit to be shown: the same shape, without a single secret value."""

from collections.abc import Callable, Container, Mapping
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object, member
from syncret.config.resources.kinds import SECRET, Role, kind_named
from syncret.daemon.core.ownership import DATA_HASH, MANAGED

REDACTED: Final = "<redacted>"
PLAIN_OF_SECRET: Final = ("apiVersion", "kind", "type")
WRITTEN_BY_NONE: Final = ("apiVersion", "kind", "metadata", "status")
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
REVEALING_ANNOTATIONS: Final = (LAST_APPLIED, DATA_HASH)
"""Annotations: the former repeats the values, from the latter a short one can be guessed."""


def redacted(document: Document) -> Document:
    """The document with every value of a Secret, of an embedded store and of a managed object taken out."""
    shown = dict(document)
    name: Json = document.get("kind")
    kind = kind_named(name) if isinstance(name, str) else None  # whatever the group: rather too much hidden
    if kind == SECRET:
        shown = _only(document, PLAIN_OF_SECRET, "data", "stringData")
    elif kind is not None and kind.role in _SPECS:
        _replace(shown, "spec", _SPECS[kind.role])
    elif name == "Fake":
        _replace(shown, "spec", _fake_generator)
    if kind != SECRET and member(document, "metadata", "labels").get(MANAGED) == "true":
        # a template may have written a value anywhere
        shown = {
            name: value if name in WRITTEN_BY_NONE else _all_values(value) for name, value in shown.items()
        }
    annotations = member(document, "metadata", "annotations")
    hidden = dict.fromkeys((name for name in REVEALING_ANNOTATIONS if name in annotations), REDACTED)
    if hidden:
        shown["metadata"] = {**document["metadata"], "annotations": {**annotations, **hidden}}
    return shown


# Malformed documents are shown, too: what does not have the expected shape is hidden as a whole.
def _replace(shown: Document, name: str, redact: Callable[[Document], Document]) -> None:
    """Redact one member, if it is there."""
    if name in shown:
        value: Json = shown[name]
        shown[name] = redact(value) if is_object(value) else _hidden(value)


def _only(document: Document, plain: Container[str], *maps: str) -> Document:
    """Every member without its value: as it is, if it is plain; of maps, the keys; of others, the name."""
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
    """In the place of what may be a value, or hold one."""
    return value if value is None or isinstance(value, bool) else REDACTED


def _store_spec(spec: Document) -> Document:
    """A `fake` provider carries its values in its spec; all other specs refer to them."""
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
    """The generator as it was is a manifest of its own; its notes name what it made, for nobody else."""
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
    """Every text below, hidden; the keys stay, they say what was written."""
    if is_object(value):
        return {key: _all_values(inner) for key, inner in value.items()}
    if is_list(value):
        return [_all_values(inner) for inner in value]
    return REDACTED if isinstance(value, str) else value
