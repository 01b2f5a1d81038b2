"""Mounts of sensitive fields, and the volumes of the pod that they need."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.daemon.release.dispatch import HANDLERS, ref_of, variant_of
from syncret.daemon.release.findings import Findings, Place
from syncret.daemon.release.groups import Group
from syncret.daemon.release.model import Field
from syncret.daemon.release.pod.references import References, Target

_MEMBERS: Final = ("mountPath", "from", "subPath", "readOnly", "defaultMode")
_TYPES: Final[Mapping[str, tuple[type, str]]] = {
    "mountPath": (str, "a path"),
    "subPath": (str, "a path"),
    "readOnly": (bool, "true or false"),
    "defaultMode": (int, "a number, such as 0400"),
}


class _Mounted(NamedTuple):
    """What a volume was first mounted for."""

    path: str
    mode: int | None


class Volumes:
    """Collects the volumes of one pod: those that the module writes, then those of its mounts."""

    def __init__(
        self,
        written: Json,
        place: Place,
        references: References,
        fields: Mapping[str, Field],
        groups: Mapping[str, Group],
        findings: Findings,
    ) -> None:
        self._references = references
        self._fields = fields
        self._groups = groups
        self._findings = findings
        self._written: list[Document] = []
        self._mounted: dict[str, _Mounted] = {}
        self._made: dict[str, Document] = {}
        if written is not None and not is_list(written):
            findings.error(place, "must be a list of volumes", "write [{name: ..., emptyDir: {}}]")
            return
        for index, volume in enumerate(written or ()):
            if is_object(volume) and isinstance(volume.get("name"), str):
                self._written.append(volume)
            else:
                findings.error(place.at(index, "name"), "is missing", "write name: ...")
        self._names = {volume["name"] for volume in self._written}

    def all(self) -> list[Document]:
        """The volumes of the pod."""
        return [*self._written, *self._made.values()]

    def mount(self, name: str, written: Json, place: Place) -> Document | None:
        """One mount; None if it is left out, as what it mounts is absent, or wrong."""
        errors = self._findings
        if not is_object(written):
            errors.error(place, "must be a mapping", "write {mountPath: ..., from: ...}")
            return None
        if "from" not in written:
            return self._plain(name, written, place)
        suppressed = errors.unknown(place, written, _MEMBERS)
        is_good = self._are_typed(written, place, suppressed)
        target = self._references.target(written["from"], place.at("from"), groups=True)
        if target is None:
            return None
        fields = self._mounted_fields(target, place)
        if fields is None or not is_good:
            return None
        if not self._is_one(name, _Mounted(target.path, written.get("defaultMode")), place):
            return None
        if fields:
            self._made.setdefault(name, self._volume(name, fields, written.get("defaultMode")))
        mount: Document = {"name": name, "mountPath": written["mountPath"]}
        if "subPath" in written:
            mount["subPath"] = written["subPath"]
        if written.get("readOnly", True):
            mount["readOnly"] = True
        return mount

    def _plain(self, name: str, written: Document, place: Place) -> Document | None:
        """A mount of a volume that the module writes itself."""
        if name not in self._names:
            hint = "write from: ..., or add the volume to spec.volumes"
            self._findings.error(place, "has no from, and no volume of this name", hint)
            return None
        if not self._are_typed(written, place, set()):
            return None
        return {"name": name, "readOnly": True, **written}

    def _are_typed(self, written: Document, place: Place, suppressed: set[str]) -> bool:
        errors = self._findings
        is_good = bool(written.get("mountPath")) or "mountPath" in suppressed
        if not is_good:
            errors.error(place.at("mountPath"), "is missing: where the files stand", "write mountPath: /path")
        for name, (kind, what) in _TYPES.items():
            value: Json = written.get(name)
            if name in written and (type(value) is not kind) and not (name == "mountPath" and not value):
                errors.error(place.at(name), f"must be {what}", "correct it, or leave it out")
                is_good = False
        return is_good and "mountPath" in written

    def _mounted_fields(self, target: Target, place: Place) -> Sequence[Field] | None:
        """All declared keys of the Secret that a target names; None if there is nothing to mount."""
        named = [self._fields[label] for label in target.labels if label in self._fields]
        secret_names = list(dict.fromkeys(field.routing.secret_name for field in named))
        if len(secret_names) > 1:
            message = f"names fields of several Secrets: {', '.join(secret_names)}"
            self._findings.error(place.at("from"), message, "mount one of them at a time")
            return None
        if not named or all(field.fulfilment is None for field in named):
            return None
        return self._groups[secret_names[0]].fields

    def _is_one(self, name: str, mounted: _Mounted, place: Place) -> bool:
        """Whether all mounts of this name need the same volume."""
        if name in self._names:
            self._findings.error(place, f"spec.volumes has a volume {name}, too", "give one another name")
            return False
        first = self._mounted.setdefault(name, mounted)
        if first.path != mounted.path or mounted.mode not in {None, first.mode}:
            other = f"from {first.path}" if first.path != mounted.path else "with another defaultMode"
            message = f"the volume {name} is mounted elsewhere {other}"
            self._findings.error(place, message, "give one of them another name")
            return False
        return True

    def _volume(self, name: str, fields: Sequence[Field], mode: int | None) -> Document:
        more: Document = {} if mode is None else {"defaultMode": mode}
        group = self._groups[fields[0].routing.secret_name]
        managed = [field for field in fields if HANDLERS[variant_of(field.fulfilment)].is_managed]
        if len(managed) == len(fields):
            return {"name": name, "secret": {"secretName": group.name, **more}}
        sources = list(_sources(fields, group))
        if len(sources) == 1:
            (source,) = sources
            return {"name": name, "secret": {"secretName": source["name"], "items": source["items"], **more}}
        return {"name": name, "projected": {"sources": [{"secret": each} for each in sources], **more}}


def _sources(fields: Sequence[Field], group: Group) -> Iterator[Document]:
    """What each Secret contributes: only the keys that were declared, as files named by `$dataKey`."""
    found = [(ref, field.routing.data_key) for field in fields if (ref := ref_of(field, group)) is not None]
    for name, keys in groupby(
        sorted(found, key=lambda each: (each[0].name, each[1])), lambda each: each[0].name
    ):
        yield {"name": name, "items": [{"key": ref.key, "path": path} for ref, path in keys]}
