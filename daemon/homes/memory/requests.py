"""Write requests: writes that are validated and completed, and not yet made. Nothing here uses the store.

JSON merge patch (RFC 7396).
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from syncret.config.errors import Problem
from syncret.config.meta import Document, GroupKind, ObjectRef, is_object, ref_of
from syncret.daemon.homes.contract import Invalid, StoredObject
from syncret.daemon.homes.memory import kinds, metadata
from syncret.daemon.homes.memory.plugins import AdmissionPlugin


def merged(target: Document, patch: Document) -> Document:
    """The target with the patch laid over it: null removes, objects merge, everything else replaces.

    Neither argument is changed; unchanged parts are shared with the result.
    """
    result = dict(target)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif is_object(value):
            below: Any = result.get(key)
            result[key] = merged(below if is_object(below) else {}, value)
        else:
            result[key] = value
    return result


_ENCODER: Final = msgspec.json.Encoder(order="sorted")


class WriteRequest(NamedTuple):
    """A document to store in place of `before` (None: a new one); `changed` is false if they are equal.

    The document is complete but for its resource version, which the commit sets.
    """

    ref: ObjectRef
    document: Document
    before: StoredObject | None
    changed: bool = True


def encode(document: Document) -> bytes:
    """The encoded document: JSON with sorted keys, so that equal documents have equal bytes.

    Raises Invalid for what is not JSON.
    """
    try:
        return _ENCODER.encode(document)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise Invalid(
            "the document cannot be written as JSON", [Problem(path="", message=str(error))]
        ) from error


def refuse_if_fatal(document: Document, problems: Sequence[Problem]) -> None:
    """Raise Invalid, in the words of an API server, where one of the problems is fatal."""
    if not problems:
        return
    fatal = [
        f"{problem.path}: {problem.message}" if problem.path else problem.message
        for problem in problems
        if problem.fatal
    ]
    if not fatal:
        return
    group, _, _ = str(document.get("apiVersion", "")).rpartition("/")
    kind = GroupKind(group, str(document.get("kind", "")))
    said = fatal[0] if len(fatal) == 1 else f"[{', '.join(fatal)}]"
    name = metadata.normalized(document)["metadata"].get("name", "")
    raise Invalid(f'{kind} "{name}" is invalid: {said}', problems)


def ref_of_request(document: Document, admission: AdmissionPlugin) -> ObjectRef:
    """The name of a document. Raises Invalid if it has none, with all problems that admission finds."""
    if metadata.is_named(document):
        return ref_of(document)
    ref, _ = _admitted(document, None, admission)
    return ref


def for_create(
    document: Document, *, admission: AdmissionPlugin, uid: str, timestamp: str, field_manager: str = ""
) -> WriteRequest:
    """The request of a new object. Raises Invalid."""
    ref, document = _admitted(document, None, admission)
    kind = ref[:2]
    if kinds.has_status_apart(kind):
        document.pop("status", None)
    metadata.set_on_create(document, uid=uid, timestamp=timestamp, counted=kinds.has_generation(kind))
    if kind == kinds.NAMESPACE:
        kinds.complete_namespace(document, "Active")
    if field_manager:
        metadata.update_managers(document, None, field_manager, timestamp=timestamp)
    return WriteRequest(ref, document, None)


def for_update(
    document: Document,
    before: StoredObject,
    previous: Document,
    *,
    admission: AdmissionPlugin,
    field_manager: str = "",
    timestamp: str = "",
) -> WriteRequest:
    """The request of a new version of an object. Raises Conflict or Invalid.

    `previous` is the whole document of `before`.
    """
    metadata.check_preconditions(before.ref, document, previous)
    ref, document = _admitted(document, previous, admission)
    kind = ref[:2]
    refuse_if_fatal(
        document,
        [*metadata.finalizer_problems(document, previous), *kinds.change_problems(document, previous, kind)],
    )
    if kinds.has_status_apart(kind):
        document.pop("status", None)
        if "status" in previous:
            document["status"] = previous["status"]
    if kind == kinds.NAMESPACE:
        kinds.complete_namespace(document, previous.get("status", {}).get("phase", "Active"))
    metadata.carry_over(document, previous)
    if encode(document) == encode(previous):
        return WriteRequest(before.ref, previous, before, changed=False)
    if kinds.has_generation(kind) and encode(_content(document)) != encode(_content(previous)):
        document["metadata"]["generation"] = previous["metadata"].get("generation", 0) + 1
    if field_manager or "managedFields" in previous["metadata"]:
        metadata.update_managers(document, previous, field_manager, timestamp=timestamp)
    return WriteRequest(before.ref, document, before)


def for_finalizers(
    finalizers: Sequence[str], stored: StoredObject, before: StoredObject, previous: Document
) -> WriteRequest:
    """The request of `stored` with other finalizers. Raises Conflict or Invalid.

    `previous` is the whole document of `before`. Its other fields were validated when they were written.
    """
    asked = {"uid": stored.uid, "resourceVersion": stored.resource_version, "finalizers": list(finalizers)}
    metadata.check_preconditions(before.ref, {"metadata": asked}, previous)
    refuse_if_fatal(previous, metadata.finalizer_problems({"metadata": asked}, previous))
    kept = {key: value for key, value in previous["metadata"].items() if key != "finalizers"}
    document = {**previous, "metadata": {**kept, "finalizers": list(finalizers)} if finalizers else kept}
    return WriteRequest(before.ref, document, before, changed=document["metadata"] != previous["metadata"])


def for_apply(document: Document, previous: Document) -> Document:
    """The applied document, with the fields of the present object that an apply does not remove."""
    new, old = metadata.normalized(document)["metadata"], previous["metadata"]
    for key in ("uid", "resourceVersion"):
        new.pop(key, None)
    for key in ("ownerReferences", "finalizers"):
        if key in old:
            new.setdefault(key, old[key])
    new["namespace"] = old.get("namespace")
    survivors = ("status", "type") if ref_of(previous).group_kind == kinds.SECRET else ("status",)
    survived: Document = {key: previous[key] for key in survivors if key in previous}
    return {**survived, **document, "metadata": new}


def _admitted(
    document: Document, previous: Document | None, admission: AdmissionPlugin
) -> tuple[ObjectRef, Document]:
    """Its name, and a copy of the document that admission and the server's own rules let pass."""
    document, problems = admission(document, previous)
    refuse_if_fatal(document, problems)
    document = metadata.normalized(document)
    ref = ref_of(document)
    kinds.complete(document, ref[:2])
    return ref, document


def _content(document: Document) -> Document:
    return {key: value for key, value in document.items() if key not in ("metadata", "status")}
