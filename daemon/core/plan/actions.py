"""The parts of the plans of all kinds: writes to the home, a verdict on the object, a report."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from msgspec import Struct

from syncret.config.meta import Document, ObjectRef, member
from syncret.config.resources.kinds import role_of
from syncret.daemon.core.ownership import Refusal
from syncret.providers.errors import Malformed, OverBudget, shortened


class Options(Struct, frozen=True, kw_only=True):
    """Options of the operator for all resources."""

    controller_class: str = "default"
    allow_generic_targets: bool = False
    require_ready_stores: bool = True
    cluster_stores: bool = True
    """Whether an ExternalSecret that names a ClusterSecretStore is ours."""
    generator_states: bool = True
    """Whether generator states are recorded, and cleaned up."""
    finalizer_always: bool = True
    """Whether ExternalSecrets get the finalizer even if nothing has to be done at their deletion."""
    store_interval: float = 300.0
    spread: bool = True
    generator_grace: float = 120.0

    def handles(self, controller: str | None) -> bool:
        """Whether a store or generator of that class is this daemon's."""
        return not controller or controller == self.controller_class


class Verb(StrEnum):
    """The kinds of writes."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    SET_FINALIZERS = "set finalizers"


DELETED: Final = "Deleted"
"""The reason of an event for an output that was deleted."""


class Event(NamedTuple):
    """An event of the object that is run, as Kubernetes has them; the message never contains a value."""

    reason: str
    message: str
    warning: bool = False


class Verdict(Struct, frozen=True, kw_only=True):
    """The result of a run for its object: the Ready condition, and the current error."""

    ok: bool = True
    reason: str = ""
    """The reason of the condition; without one the condition is unchanged."""
    message: str = ""
    error: Exception | None = None
    """None clears the last error. A Refusal waits for a change, any other error is retried with backoff."""
    bound: str = ""
    """The new name in `status.binding` of an ExternalSecret; empty: unchanged."""


class Action(Struct, frozen=True, kw_only=True):
    """One write, decided on the version in `before`; if the object has changed, all is decided again."""

    verb: Verb
    ref: ObjectRef
    document: Document | None = None
    """The whole object to write; of SET_FINALIZERS only `metadata.finalizers` counts; None for DELETE."""
    before: Document | None = None
    """The object as it was read; None for CREATE."""
    field_manager: str = ""
    event: Event | None = None
    """Recorded for the object of the run once the write is done."""
    refused: Verdict | None = None
    """The verdict if the home refuses the write; its error is the home's."""
    then: str = ""
    """The steps after the write, as text, for a Delivery."""


class LastError(NamedTuple):
    """The last error of an object, and its time; it contains keys and places, never values."""

    at: float
    message: str
    hint: str = ""
    field: str = ""
    """The path of the field that is wrong, if the object's own manifest is."""
    text_line: int = 0
    """A line within the text of that field, a template; 0: the field itself."""
    lines_below: int = 0
    """How many lines below the begin of its manifest that is, once it was looked up."""

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class Report(Struct, frozen=True, kw_only=True):
    """The report that is published at the end of a run."""

    status: Mapping[str, Any] | None = None
    """The whole status; None where nothing in it differs."""
    events: tuple[Event, ...] = ()
    last_error: LastError | None = None
    """None clears it."""
    origins: Mapping[str, str] = {}
    """The entry of the spec that each key came from, where that is known."""
    failure: Exception | None = None
    """Counts as a failed run, repeated with backoff."""
    next_due: float | None = None


def last_error(error: Exception, at: float) -> LastError:
    """The error as `status`, `explain` and `sync` show it."""
    message = error.detail if isinstance(error, Refusal) else str(error)
    field, line = "", 0
    if isinstance(error, Malformed | OverBudget):  # other errors are not the manifest's fault
        field, line = error.field or error.place, error.text_line
    return LastError(at, message, getattr(error, "hint", ""), field if field.startswith("spec") else "", line)


def condition_message(verdict: Verdict) -> str:
    """The operator's message, then the reason: which key, which line of a template, who owns it."""
    error = verdict.error
    if error is None:
        return verdict.message
    reason = error.detail if isinstance(error, Refusal) else getattr(error, "message", "") or str(error)
    message, where = verdict.message, _entry(error)
    if where and where not in message:
        message, reason = message.removesuffix(reason).removesuffix(": "), f"{where}: {reason}"
    if not reason or message.endswith(reason):
        return message
    return f"{message}: {reason}" if message else reason


def _entry(error: Exception) -> str:
    """The path of the entry that costs too much, for a reason that names none."""
    return shortened(error.field or error.place) if isinstance(error, OverBudget) else ""


def failed_event(reason: str, verdict: Verdict) -> Event:
    """The warning for a verdict with an error: the message of its condition, and the remedy."""
    message, hint = condition_message(verdict), getattr(verdict.error, "hint", "")
    return Event(reason, f"{message} ({hint})" if hint else message, warning=True)


_SET_BY_THE_HOME: Final = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")
_BOOKKEEPING: Final = (*_SET_BY_THE_HOME, "finalizers")


def is_carried_out(action: Action, found: Document | None) -> bool:
    """Whether a write that got no answer was done, by the object that was read afterwards.

    The home may have filled in fields that the action leaves open. If any other field differs, the answer is
    no, and the next decision, on the object as it is now, finds what is left to do.
    """
    meant = action.document
    if meant is None:
        uid = member(action.before or {}, "metadata").get("uid")
        return found is None or member(found, "metadata").get("uid") != uid
    if found is None:
        return False
    if action.verb is Verb.SET_FINALIZERS:
        return _fits(_finalizers(found), _finalizers(meant), {})
    before = action.before or {}
    return _fits(
        found["metadata"],
        _without(meant, _SET_BY_THE_HOME)["metadata"],
        _without(before, _SET_BY_THE_HOME).get("metadata", {}),
    ) and _fits(_content(found), _content(meant), _content(before))


class OutputChange(NamedTuple):
    """A write as `plan`, `sync` and `simulate` show it: the keys of its data, and no values."""

    verb: Verb
    api_version: str
    ref: ObjectRef
    added: list[str]
    changed: list[str]
    removed: list[str]
    then: str = ""


def output_change(action: Action) -> OutputChange | None:
    """The changes of a write in an output; None for finalizers and records of generators."""
    before, after = action.before or {}, action.document or {}
    if role_of(action.ref[:2]) == "record" or action.verb is Verb.SET_FINALIZERS:
        return None
    if before and _without(before, _BOOKKEEPING) == _without(after, _BOOKKEEPING):
        return None
    old, new = _data(before), _data(after)
    return OutputChange(
        verb=action.verb,
        api_version=str((after or before).get("apiVersion", "")),
        ref=action.ref,
        added=sorted(new.keys() - old.keys()),
        changed=sorted(key for key in new.keys() & old.keys() if new[key] != old[key]),
        removed=sorted(old.keys() - new.keys()),
        then=action.then,
    )


def _data(document: Document) -> Document:
    return member(document, "data") or member(document, "spec", "data")


def _without(document: Document, fields: tuple[str, ...]) -> Document:
    if not document:
        return {}
    metadata = {key: value for key, value in document["metadata"].items() if key not in fields}
    return {**document, "metadata": metadata}


def _finalizers(document: Document) -> Document:
    return {"finalizers": member(document, "metadata").get("finalizers")}


def _content(document: Document) -> Document:
    return {key: value for key, value in document.items() if key not in ("metadata", "status")}


def _fits(found: Document, meant: Document, before: Document) -> bool:
    """Whether each field has its value, and those that were taken away are gone; an empty one is none."""
    return all((found.get(key) or None) == (meant.get(key) or None) for key in {*meant, *before})
