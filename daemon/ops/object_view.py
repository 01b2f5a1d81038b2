"""The fields of an object that operators see: its conditions, the age of its value, its refresh interval."""

import msgspec

from syncret.config.durations import DurationError, parse_duration
from syncret.daemon.core.conditions import seconds
from syncret.daemon.homes.contract import StoredObject


class Condition(msgspec.Struct, frozen=True, gc=False):
    """One condition of a status."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    conditions: tuple[Condition, ...] = ()
    refresh_time: str | None = None


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    refresh_interval: str | int | None = None
    refresh_policy: str | None = None


class ObjectView(msgspec.Struct, frozen=True):
    """The fields of an object of any of our kinds that status and metrics need."""

    spec: _Spec = _Spec()
    status: _Status = _Status()

    @property
    def ready_condition(self) -> Condition | None:
        """The condition of type Ready; None before the first run has reported one."""
        return next((each for each in self.status.conditions if each.type == "Ready"), None)

    @property
    def ready(self) -> bool | None:
        """Whether the condition Ready is True; None if there is none."""
        condition = self.ready_condition
        return None if condition is None else condition.status == "True"

    @property
    def good_since(self) -> float | None:
        """When its values were last confirmed by the store."""
        return seconds(self.status.refresh_time or "")

    @property
    def interval(self) -> float:
        """The refresh interval in seconds; 0: never by time."""
        interval = self.spec.refresh_interval
        if interval is None or self.spec.refresh_policy in {"CreatedOnce", "OnChange"}:
            return 0.0
        try:
            return float(interval) if isinstance(interval, int) else parse_duration(interval)
        except DurationError:
            return 0.0  # the object's condition reports it


def view_of(stored: StoredObject) -> ObjectView:
    """The view of one object; empty for one that is malformed (its condition says why)."""
    try:
        return stored.as_type(ObjectView)
    except msgspec.ValidationError:
        return ObjectView()
