"""Which Secrets carry the label of an ExternalSecret that owns them, whatever their names."""

from typing import Final

import msgspec

from syncret.config.meta import GroupKind, NullIsEmpty, ObjectRef
from syncret.daemon.backends.contract import Change, ChangeKind
from syncret.daemon.core.labels import CREATED_BY

SECRET: Final = GroupKind("", "Secret")


class _Labelled(msgspec.Struct):
    labels: NullIsEmpty[dict[str, str]] = {}


class _Head(msgspec.Struct):
    metadata: _Labelled


class Owned:
    """An index over events. It may name a Secret that has lost the label since: whoever asks looks again.

    Keys are short numbers made of the label: a home may hold tens of thousands of Secrets.
    """

    def __init__(self) -> None:
        self._refs: dict[int, tuple[ObjectRef, ...]] = {}

    def notice(self, change: Change) -> None:
        """Take in a change of the home."""
        if change.stored is None or change.stored.ref.group_kind != SECRET:
            return
        label = change.stored.as_type(_Head).metadata.labels.get(CREATED_BY)
        if label is None:
            return
        key, ref = hash(label), change.stored.ref
        known = self._refs.get(key, ())
        if change.kind is ChangeKind.DELETED:
            left = tuple(each for each in known if each != ref)
            if left:
                self._refs[key] = left
            else:
                self._refs.pop(key, None)
        elif ref not in known:
            self._refs[key] = (*known, ref)

    def by(self, label: str) -> tuple[ObjectRef, ...]:
        """The Secrets that carry this label, as far as is known."""
        return self._refs.get(hash(label), ())
