"""Answers an AdmissionReview of an API server by the rules of `syncret validate`. Pure.

A message names fields and what is wrong with them, never a value.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from syncret.config.catalog import Catalog
from syncret.config.errors import Problem, Severity
from syncret.config.fields import Json
from syncret.config.meta import Document, GroupKind, is_object, member
from syncret.config.schema.admission import admit

_GROUP: Final = "admission.k8s.io/"
_VERSIONS: Final = {f"{_GROUP}v1", f"{_GROUP}v1beta1"}
_WRITES: Final = {"CREATE", "UPDATE"}
_BAD_REQUEST, _FORBIDDEN = 400, 403
_MOST: Final = 32
"""The most problems, and the most warnings, that are returned for one object."""

_LONGEST: Final = 1024
"""Characters of one of them."""


class NotAReview(Exception):
    """The body is no AdmissionReview, so there is no request to answer."""


class _Request(Struct, rename="camel"):
    uid: str
    operation: str = ""
    object: Json = None
    old_object: Json = None


class _Review(Struct, rename="camel"):
    api_version: str
    kind: str
    request: _Request


class Verdict(Struct, frozen=True):
    """The answer about an object; without a message it is accepted."""

    message: str = ""
    warnings: Sequence[str] = ()
    code: int = _FORBIDDEN


def reviewed(body: bytes, kind: GroupKind, catalog: Catalog) -> Document:
    """The answer to a review that came to the path of a kind. Raises NotAReview."""
    try:
        review = msgspec.json.decode(body, type=_Review)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise NotAReview("the body is no AdmissionReview") from None
    if review.kind != "AdmissionReview" or review.api_version not in _VERSIONS:
        raise NotAReview("only AdmissionReview of admission.k8s.io/v1 and v1beta1 is understood")
    verdict = _verdict(review.request, kind, catalog)
    response: Document = {"uid": review.request.uid, "allowed": not verdict.message}
    if verdict.message:
        reason = "Forbidden" if verdict.code == _FORBIDDEN else "BadRequest"
        response["status"] = {
            "status": "Failure",
            "message": verdict.message,
            "reason": reason,
            "code": verdict.code,
        }
    if verdict.warnings:
        response["warnings"] = list(verdict.warnings)
    return {"apiVersion": review.api_version, "kind": "AdmissionReview", "response": response}


def _verdict(request: _Request, kind: GroupKind, catalog: Catalog) -> Verdict:
    if request.operation not in _WRITES:
        return Verdict()
    document, old = request.object, request.old_object
    if not is_object(document):
        return Verdict("the review has no object", code=_BAD_REQUEST)
    group = str(document.get("apiVersion")).rpartition("/")[0]
    if (group, document.get("kind")) != kind:
        return Verdict(f"expected a {kind.kind}", code=_BAD_REQUEST)
    previous = old if request.operation == "UPDATE" and is_object(old) else None
    if previous is not None and _may_stay(document, previous):
        return Verdict()
    try:
        problems = admit(document, catalog, previous).all_problems
    except RecursionError:
        return Verdict("the object is nested too deeply")
    refusals = _messages(each for each in problems if each.fatal)
    warnings = _messages(each for each in problems if each.severity is Severity.WARNING)
    return Verdict("\n".join(refusals), warnings)


def _may_stay(document: Document, previous: Document) -> bool:
    """Whether an update changes nothing that rules are about, or takes finalizers off what is being deleted.

    An object that was stored before a rule was made must be able to go.
    """
    metadata: Json = document.get("metadata")
    if is_object(metadata) and metadata.get("deletionTimestamp"):
        return True
    return document.get("spec") == previous.get("spec") and bool(member(previous, "metadata"))


def _messages(problems: Iterable[Problem]) -> list[str]:
    """One line for each problem: the message as ESO words it, then the field and what to write instead."""
    lines: list[str] = []
    more = 0
    for problem in problems:
        if len(lines) < _MOST:
            where = ": ".join(filter(None, (problem.path, problem.hint)))
            lines.append((f"{problem.message} ({where})" if where else problem.message)[:_LONGEST])
        else:
            more += 1
    return [*lines, f"and {more} more"] if more else lines
