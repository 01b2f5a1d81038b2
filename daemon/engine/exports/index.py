"""Which Secrets and ConfigMaps were written for the exports of which resource, by their label."""

import msgspec

from syncret.config.meta import GroupKind, NullIsEmpty, ObjectRef
from syncret.config.resources.kinds import CONFIG_MAP, SECRET
from syncret.daemon.core.exports.owner import EXPORTED_BY, label_of
from syncret.daemon.homes.contract import WatchEvent, WatchEventType

_KINDS = frozenset({SECRET.group_kind, CONFIG_MAP.group_kind})


class _Labelled(msgspec.Struct):
    labels: NullIsEmpty[dict[str, str]] = {}


class _Head(msgspec.Struct):
    metadata: _Labelled = msgspec.field(default_factory=_Labelled)


class OutputIndex:
    """The outputs of resources; the caller reads them again."""

    def __init__(self) -> None:
        self._outputs: dict[str, set[ObjectRef]] = {}
        self._labels: dict[ObjectRef, str] = {}

    def concerns(self, kind: GroupKind) -> bool:
        """Secrets and ConfigMaps."""
        return kind in _KINDS

    def notice(self, event: WatchEvent) -> None:
        """Index the new version of an object."""
        if event.object is None:
            return
        ref, label = event.object.ref, ""
        if event.type is not WatchEventType.DELETED and EXPORTED_BY.encode() in event.object.data:
            label = event.object.as_type(_Head).metadata.labels.get(EXPORTED_BY, "")
        former = self._labels.pop(ref, "")
        if former and former != label:
            self._outputs[former].discard(ref)
            if not self._outputs[former]:
                del self._outputs[former]
        if label:
            self._labels[ref] = label
            self._outputs.setdefault(label, set()).add(ref)

    def of(self, resource: ObjectRef) -> list[ObjectRef]:
        """The objects with the label of this resource, in its namespace."""
        found = self._outputs.get(label_of(resource), ())
        return sorted(each for each in found if each.namespace == resource.namespace)
