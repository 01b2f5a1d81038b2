"""Compares a live object with the wanted one, in the fields that are ours and the lists that only we write.

Defaults and other spellings of a value by the API server are no differences. All other fields belong to other
writers, and are not compared. Pure.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

import msgspec

from syncret.config.durations import DurationError, parse_nanoseconds
from syncret.config.meta import Document, is_list, is_object, member

MANAGER: Final = "syncret-operator"
"""Our field manager in `managedFields`."""

METADATA_ONLY: Final = frozenset({"Namespace", "Secret", "ConfigMap", "ServiceAccount"})
"""Kinds of which the labels and annotations are ours, and nothing else."""

_KEYS: Final[Mapping[str, Sequence[str]]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "webhooks": ("name",),
}
"""Lists that the API server merges by the keys of their entries."""

_PORT_KEYS: Final = {"containerPort": ("containerPort", "protocol"), "port": ("port", "protocol")}
_POD: Final = ("affinity", "tolerations", "nodeSelector", "imagePullSecrets", "initContainers", "volumes")
_CONTAINER: Final = ("args", "env", "envFrom", "ports", "volumeMounts")
_TEMPLATE: Final = ("spec", "template", "spec")

_QUANTITY: Final = re.compile(r"([0-9.]+)(m|[kKMGTPE]i?|)")
_UNITS: Final = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    **{unit: Decimal(1000) ** power for power, unit in enumerate("kMGTPE", 1)},
    **{f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", 1)},
}
_WHOLE: Final = frozenset({"selector", "podSelector", "nodeSelector"})
"""Objects that are ours alone: one more label in a Service's selector, and it finds no Pod."""

_AFFINITIES: Final = ("nodeAffinity", "podAffinity", "podAntiAffinity")
_AFFINITY: Final = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
_MEASURED: Final = frozenset({"limits", "requests"})
_TIMED: Final = frozenset({"duration", "renewBefore"})


class Difference(NamedTuple):
    """The difference between a live object and the wanted one."""

    ours: bool
    """Whether a field of ours has another value, or is not ours in `managedFields`."""
    foreign: Sequence[str]
    """What others have added to lists that only we write, as JSON pointers; the last is removed first."""

    def __bool__(self) -> bool:
        return self.ours or bool(self.foreign)


def difference(wanted: Document, live: Document) -> Difference:
    """The difference of a live object, with its managedFields, from the wanted one."""
    if wanted["kind"] in METADATA_ONLY:
        shown = {"metadata": wanted["metadata"]}
    else:
        shown = {name: value for name, value in wanted.items() if name not in {"apiVersion", "kind"}}
    metadata = {
        name: value
        for name, value in shown["metadata"].items()
        if name in {"labels", "annotations", "ownerReferences"}
    }
    same = _same({**shown, "metadata": metadata}, live)
    return Difference(not same or not _is_booked(wanted, live), tuple(_foreign(wanted, live)))


def is_unchanged(before: Document, after: Document) -> bool:
    """Whether a dry run would have changed nothing; the times in `managedFields` do not count."""
    return _plain(before) == _plain(after)


def entries(document: Document) -> Sequence[Document]:
    """The entries of `managedFields`, without those of the status."""
    every: Sequence[Document] = document.get("metadata", {}).get("managedFields") or ()
    return [each for each in every if not each.get("subresource")]


def others(document: Document) -> str:
    """The other field manager that wrote the object last, by managedFields; empty if there is none."""
    found = [each for each in entries(document) if each.get("manager") != MANAGER]
    return str(max(found, key=lambda each: str(each.get("time", ""))).get("manager", "")) if found else ""


def is_ours(entry: Document) -> bool:
    """Whether an entry of `managedFields` is ours."""
    return entry.get("manager") == MANAGER and entry.get("operation") == "Apply"


# ----------------------------------------------------------------------------------------------------- values
def _same(wanted: Any, live: Any, *, name: str = "", closed: bool = False) -> bool:  # noqa: ANN401  # JSON
    """Whether the live value has what is wanted; `closed`: and nothing else."""
    closed = closed or name in _WHOLE
    if wanted in (None, "", False, 0) or wanted in ([], {}):
        return live in (None, "", False, 0) or live in ([], {}) or (is_object(wanted) and not closed)
    if is_object(wanted):
        if not is_object(live):
            return False
        if closed and any(live[each] not in (None, "", [], {}) for each in live.keys() - wanted.keys()):
            return False
        inside = name in _MEASURED
        return all(
            _is_measure(value, live.get(each))
            if inside
            else _same(value, live.get(each), name=each, closed=closed)
            for each, value in wanted.items()
        )
    if is_list(wanted):
        return is_list(live) and _same_list(wanted, live, name, closed=closed)
    if name in _TIMED:
        return _time(wanted) == _time(live)
    return bool(wanted == live)


def _same_list(wanted: Sequence[Any], live: Sequence[Any], name: str, *, closed: bool) -> bool:
    keys = keys_of(name, wanted)
    if not keys:
        return len(wanted) == len(live) and all(
            _same(mine, theirs, closed=True) for mine, theirs in zip(wanted, live, strict=True)
        )
    return all(
        any(_has_keys(each, mine, keys) and _same(mine, each, closed=closed) for each in live)
        for mine in wanted
    )


def keys_of(name: str, entries_: Sequence[Any]) -> Sequence[str]:
    """The members that identify the entries of a list; none: the list is one value."""
    if name == "ports" and entries_ and is_object(entries_[0]):
        return next((keys for of, keys in _PORT_KEYS.items() if of in entries_[0]), ())
    return _KEYS.get(name, ())


def _has_keys(live: Any, wanted: Document, keys: Sequence[str]) -> bool:  # noqa: ANN401  # JSON
    return is_object(live) and all(
        live.get(key) == wanted.get(key, "TCP" if key == "protocol" else None) for key in keys
    )


def _is_measure(wanted: object, live: object) -> bool:
    return wanted == live or (live is not None and _amount(wanted) == _amount(live) is not None)


def _amount(quantity: object) -> Decimal | None:
    found = _QUANTITY.fullmatch(str(quantity))
    return None if found is None else Decimal(found[1]) * _UNITS[found[2]]


def _time(text: object) -> object:
    try:
        return parse_nanoseconds(str(text))
    except DurationError:
        return text


# ---------------------------------------------------------------------------------------------------- booking
def _is_booked(wanted: Document, live: Document) -> bool:
    """Whether we have applied the object, and own no field of it that is not wanted any more."""
    ours = next((each for each in entries(live) if is_ours(each)), None)
    return ours is not None and not _claims_more(ours.get("fieldsV1") or {}, wanted)


def _claims_more(fields: Document, value: Any) -> bool:  # noqa: ANN401  # JSON
    for name, inner in fields.items():
        mark, _, rest = name.partition(":")
        if mark == "f":
            if not is_object(value) or rest not in value or _claims_more(inner, value[rest]):
                return True
        elif mark == "k":
            keys = msgspec.json.decode(rest)
            found = [each for each in value or () if is_object(each) and _has_keys(each, keys, tuple(keys))]
            if not found or _claims_more(inner, found[0]):
                return True
        elif mark == "v" and msgspec.json.decode(rest) not in (value or ()):
            return True
    return False


def _plain(document: Document) -> Document:
    metadata = {name: value for name, value in document["metadata"].items() if name != "managedFields"}
    booked = sorted(
        (
            str(each.get("manager")),
            str(each.get("operation")),
            msgspec.json.encode(each.get("fieldsV1"), order="sorted"),
        )
        for each in entries(document)
    )
    return {**document, "metadata": metadata, "": booked}


# ---------------------------------------------------------------------------------------------------- foreign
def _foreign(wanted: Document, live: Document) -> Iterator[str]:
    """What is to be removed, from the end of each list."""
    kind = wanted["kind"]
    if kind == "Deployment":
        mine, theirs = member(wanted, *_TEMPLATE), member(live, *_TEMPLATE)
        yield from _of_pod(mine, theirs, "/spec/template/spec")
    elif kind == "Service":
        yield from _entries(member(wanted, "spec"), member(live, "spec"), "ports", "/spec")
    elif kind == "NetworkPolicy":
        for name in ("ingress", "egress"):
            yield from _entries(member(wanted, "spec"), member(live, "spec"), name, "/spec")
    elif kind == "ValidatingWebhookConfiguration":
        yield from _entries(wanted, live, "webhooks", "")


def _of_pod(wanted: Document, live: Document, at: str) -> Iterator[str]:
    for name in ("containers", "initContainers"):
        for mine in wanted.get(name, ()):
            for index, theirs in enumerate(live.get(name) or ()):
                if theirs.get("name") == mine["name"]:
                    for each in _CONTAINER:
                        yield from _entries(mine, theirs, each, f"{at}/{name}/{index}")
    for name in _AFFINITIES if wanted.get("affinity") else ():
        mine, theirs = member(wanted, "affinity"), member(live, "affinity")
        if mine.get(name):
            for each in _AFFINITY:
                yield from _entries(mine[name], theirs.get(name) or {}, each, f"{at}/affinity/{name}")
        yield from _entries(mine, theirs, name, f"{at}/affinity")
    for name in ("containers", *_POD):
        yield from _entries(wanted, live, name, at)


def _entries(wanted: Document, live: Document, name: str, at: str) -> Iterator[str]:
    """The foreign entries of one list, or all of what is not wanted at all."""
    if not live.get(name):
        return
    if not wanted.get(name):
        yield f"{at}/{name}"
        return
    mine, keys = wanted[name], keys_of(name, wanted[name])
    if keys:
        for index in reversed(range(len(live[name]))):
            if not any(_has_keys(live[name][index], each, keys) for each in mine):
                yield f"{at}/{name}/{index}"
