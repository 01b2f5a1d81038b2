"""Which events of objects become Event objects: equal ones are counted, similar ones combined, floods cut.

The limits are those of client-go, which most controllers use.
"""

from collections import OrderedDict
from secrets import token_hex
from typing import Final

from msgspec import Struct, field

from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.kinds import CLUSTER_SECRET_STORE, EXTERNAL_SECRET, PUSH_SECRET, SECRET_STORE
from syncret.daemon.core.conditions import stamp
from syncret.daemon.core.webhook_names import WEBHOOK_CONFIGURATION
from syncret.daemon.homes.contract import StoredObject

WINDOW: Final = 600.0
"""Seconds within which an equal event raises a count, and similar ones are combined."""

SIMILAR: Final = 10
"""So many messages of one reason get events of their own; others within the window are combined."""

BURST: Final = 25
REFILL: Final = 300.0
"""Events of one object at once; after them one in so many seconds."""

MOST_OBJECTS: Final = 4096
"""Objects whose events are remembered; beyond that, the one without events for longest is dropped."""

LONGEST_MESSAGE: Final = 1024
"""Bytes of a message, as in the newer API of events."""

_COMBINED: Final = "(combined from similar events): "
_LONGEST_NAME: Final = 253
_COMPONENTS: Final = {
    EXTERNAL_SECRET.group_kind: "external-secrets",
    PUSH_SECRET.group_kind: "pushsecret",
    SECRET_STORE.group_kind: "secret-store",
    CLUSTER_SECRET_STORE.group_kind: "cluster-secret-store",
    WEBHOOK_CONFIGURATION: "validating-webhook-configuration",
}
_OTHERS: Final = "external-secrets-controller"
"""The names under which ESO's controllers report, by the kind of the object."""


class Entry(Struct, eq=False, kw_only=True):
    """One Event object, as it should be on the API server."""

    ref: ObjectRef
    uid: str
    api_version: str
    name: str
    warning: bool
    reason: str
    message: str
    first: float
    last: float
    resource_version: str
    count: int = 1
    is_stored: bool = False
    """Whether the server has it, with an older count perhaps."""

    @property
    def namespace(self) -> str:
        """The namespace of the Event: that of its object; for a cluster-scoped one `default`."""
        return self.ref.namespace or "default"

    @property
    def document(self) -> Document:
        """The whole Event."""
        component = _COMPONENTS.get(self.ref.group_kind, _OTHERS)
        involved = {
            "apiVersion": self.api_version,
            "kind": self.ref.kind,
            "name": self.ref.name,
            "namespace": self.ref.namespace,
            "uid": self.uid,
            "resourceVersion": self.resource_version,
        }
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "involvedObject": {name: value for name, value in involved.items() if value},
            "type": "Warning" if self.warning else "Normal",
            "reason": self.reason,
            "source": {"component": component},
            "reportingComponent": component,
            "firstTimestamp": stamp(self.first),
            **self.changes,
        }

    @property
    def changes(self) -> Document:
        """The fields that a repetition changes."""
        return {"count": self.count, "lastTimestamp": stamp(self.last), "message": self.message}


class _Group(Struct):
    """Events of one object that differ in the message only."""

    last: float
    messages: set[str] = field(default_factory=set[str])


class _Subject(Struct):
    """The recent events of one object."""

    tokens: float
    refilled: float
    groups: dict[tuple[bool, str], _Group] = field(default_factory=dict[tuple[bool, str], _Group])
    entries: dict[tuple[bool, str, str], Entry] = field(default_factory=dict[tuple[bool, str, str], Entry])


class EventRules:
    """Decides what becomes of each event."""

    def __init__(self) -> None:
        self._subjects: OrderedDict[tuple[ObjectRef, str], _Subject] = OrderedDict()

    def take(
        self, seen: StoredObject, *, warning: bool, reason: str, message: str, now: float
    ) -> Entry | None:
        """The entry for the event, new or with a higher count; None if the object had too many."""
        subject = self._subject(seen, now)
        text = _cut(message)
        group = subject.groups.setdefault((warning, reason), _Group(now))
        if now - group.last > WINDOW:
            group.messages.clear()
        group.last = now
        is_combined = text not in group.messages and len(group.messages) >= SIMILAR
        if is_combined:
            text = _cut(_COMBINED + text)
        else:
            group.messages.add(text)
        if not self._has_token(subject, now):
            return None
        key = (warning, reason, "" if is_combined else text)
        known = subject.entries.get(key)
        if known is not None and now - known.last <= WINDOW:
            known.count += 1
            known.last, known.message = now, text
            known.resource_version = seen.resource_version
            return known
        entry = Entry(
            ref=seen.ref,
            uid=seen.uid,
            api_version=seen.as_type(_Typed).apiVersion,
            name=_name(seen.ref.name),
            warning=warning,
            reason=reason,
            message=text,
            first=now,
            last=now,
            resource_version=seen.resource_version,
        )
        old = [each for each, entry in subject.entries.items() if now - entry.last > WINDOW]
        for each in old:
            del subject.entries[each]
        subject.entries[key] = entry
        return entry

    def _subject(self, seen: StoredObject, now: float) -> _Subject:
        key = (seen.ref, seen.uid)
        subject = self._subjects.pop(key, None) or _Subject(BURST, now)
        self._subjects[key] = subject
        if len(self._subjects) > MOST_OBJECTS:
            self._subjects.popitem(last=False)
        return subject

    @staticmethod
    def _has_token(subject: _Subject, now: float) -> bool:
        gained = max(0.0, now - subject.refilled) / REFILL
        subject.tokens = min(BURST, subject.tokens + gained)
        subject.refilled = now
        if subject.tokens < 1:
            return False
        subject.tokens -= 1
        return True


class _Typed(Struct):
    apiVersion: str = ""  # noqa: N815  # as the API calls it


def _name(name: str) -> str:
    """A name that no other Event has."""
    suffix = f".{token_hex(8)}"
    return name[: _LONGEST_NAME - len(suffix)].rstrip("-.") + suffix


def _cut(message: str) -> str:
    """The message, of which at most so many bytes are kept."""
    raw = message.encode()
    if len(raw) <= LONGEST_MESSAGE:
        return message
    return raw[: LONGEST_MESSAGE - 3].decode(errors="ignore") + "..."
