"""What operators see of an object: its verdict, the age of its value, and how often that is renewed."""

from typing import Final

import msgspec

from syncret.config.durations import DurationError, parse_duration
from syncret.config.meta import GroupKind
from syncret.config.resources.base import GROUP
from syncret.daemon.core.conditions import seconds
from syncret.daemon.homes.contract import StoredObject

KINDS: Final = tuple(
    GroupKind(GROUP, kind)
    for kind in (
        "ExternalSecret",
        "PushSecret",
        "SecretStore",
        "ClusterSecretStore",
        "ClusterExternalSecret",
        "ClusterPushSecret",
    )
)
"""The kinds that the daemon acts upon."""

VALUED: Final = ("ExternalSecret", "PushSecret")
"""Kinds that bring values somewhere; of all others there is no age to tell."""

STORES: Final = ("SecretStore", "ClusterSecretStore")


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """One condition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    conditions: tuple[Verdict, ...] = ()
    refresh_time: str | None = None


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    refresh_interval: str | int | None = None
    refresh_policy: str | None = None


class ObjectView(msgspec.Struct, frozen=True):
    """An object of any of our kinds, as far as operators ask."""

    spec: _Spec = _Spec()
    status: _Status = _Status()

    @property
    def verdict(self) -> Verdict | None:
        """Whether it is in order; None where nothing has been told yet."""
        return next((each for each in self.status.conditions if each.type == "Ready"), None)

    @property
    def ready(self) -> bool | None:
        """The verdict in one word."""
        verdict = self.verdict
        return None if verdict is None else verdict.status == "True"

    @property
    def good_since(self) -> float | None:
        """When its values were last known to be good."""
        return seconds(self.status.refresh_time or "")

    @property
    def interval(self) -> float:
        """After how many seconds time alone renews it; 0: never."""
        interval = self.spec.refresh_interval
        if interval is None or self.spec.refresh_policy in {"CreatedOnce", "OnChange"}:
            return 0.0
        try:
            return float(interval) if isinstance(interval, int) else parse_duration(interval)
        except DurationError:
            return 0.0  # the object's own verdict says so


def view_of(stored: StoredObject) -> ObjectView:
    """The newest of one object; an empty one where it is so malformed that only its verdict could say why."""
    try:
        return stored.as_type(ObjectView)
    except msgspec.ValidationError:
        return ObjectView()
