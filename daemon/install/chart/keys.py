"""How a key of the chart's values is described: its default, what it means, and what it may be."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from syncret.config.meta import Document, is_object

_TEXT: Final[Document] = {"type": "string"}
_OBJECT: Final[Document] = {"type": "object"}


class Key(Struct, frozen=True):
    """One key that has no keys below it."""

    default: Any
    about: str
    schema: Document
    has_effect: bool = True
    """Whether it changes an object; otherwise it is only accepted."""


Keys: TypeAlias = Mapping[str, "Key | Keys"]


class Open(dict[str, "Key | Keys"]):
    """Keys beside which there may be others: `global` is shared by all charts of a release."""


def text(default: str, about: str, *choices: str) -> Key:
    """A text, or one of some."""
    return Key(default, about, {"enum": [*choices]} if choices else _TEXT)


def yes(about: str) -> Key:
    """True by default."""
    return Key(default=True, about=about, schema={"type": "boolean"})


def no(about: str) -> Key:
    """False by default."""
    return Key(default=False, about=about, schema={"type": "boolean"})


def integer(default: int, about: str, *, least: int = 0) -> Key:
    """A number."""
    return Key(default, about, {"type": "integer", "minimum": least})


def number_or_share(default: int | None, about: str) -> Key:
    """How many, or `50%`."""
    return Key(default, about, {"type": ["integer", "string"]})


def texts(about: str, default: Mapping[str, str] | None = None) -> Key:
    """A map of texts."""
    return Key(dict(default or {}), about, {"type": "object", "additionalProperties": _TEXT})


def document(about: str, default: Document | None = None) -> Key:
    """An object of Kubernetes' own form."""
    return Key(default or {}, about, _OBJECT)


def documents(about: str) -> Key:
    """A list of such objects."""
    return Key([], about, {"type": "array", "items": _OBJECT})


def names(about: str) -> Key:
    """A list of texts."""
    return Key([], about, {"type": "array", "items": _TEXT})


def anything(default: Any, about: str, *types: str) -> Key:  # noqa: ANN401  # any value of YAML
    """A value of one of some types of JSON."""
    return Key(default, about, {"type": [*types]} if types else {})


def without_effect(key: Key, why: str) -> Key:
    """A key of ESO's chart that is accepted, and has no effect."""
    return Key(key.default, why, key.schema, has_effect=False)


def idle_keys(defaults: Mapping[str, Any], why: str) -> Keys:
    """Keys of ESO's chart that have no effect, by their defaults; what they hold is not looked at."""
    found: dict[str, Key | Keys] = {}
    for name, default in defaults.items():
        if is_object(default) and default:
            found[name] = idle_keys(default, why)
        else:
            found[name] = Key(default, why, _kind(default), has_effect=False)
    return found


def _kind(default: object) -> Document:
    match default:
        case bool():
            return {"type": "boolean"}
        case dict():
            return _OBJECT
        case Sequence() if not isinstance(default, str):
            return {"type": "array"}
        case _:
            return {}


def leaves(keys: Keys, above: str = "") -> Iterator[tuple[str, Key]]:
    """Every key that has no keys below it, by its dotted path."""
    for name, each in keys.items():
        path = f"{above}{name}"
        if isinstance(each, Key):
            yield path, each
        else:
            yield from leaves(each, f"{path}.")


def idle(keys: Keys, above: str = "") -> Iterator[tuple[str, str]]:
    """The keys without effect and why; of a group none of which has one, the group alone."""
    for name, each in keys.items():
        path = f"{above}{name}"
        if isinstance(each, Key):
            if not each.has_effect:
                yield path, each.about
            continue
        found = [key for _, key in leaves(each)]
        if any(key.has_effect for key in found):
            yield from idle(each, f"{path}.")
        else:
            yield path, found[0].about
