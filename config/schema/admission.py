"""Admits a document as an API server and its admission webhooks would, and decodes it into a resource."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec

from syncret.config.catalog import BrokenEntry, Catalog
from syncret.config.errors import Problem, Severity
from syncret.config.fields import Json, Model
from syncret.config.meta import Document, GroupKind, is_object
from syncret.config.resources.base import Resource
from syncret.config.resources.kinds import EXTERNAL_SECRET, NAMESPACE, OUR_GROUPS, Kind, Kinds
from syncret.config.schema.metadata_rules import check_metadata, check_server_fields, drop_server_fields
from syncret.config.schema.structural import Schema

DEFAULT_NAMESPACE: Final = "default"


class AdmissionResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of admitting one document.

    `document` is what would be stored: pruned, defaulted, in the stored version, without status; None if it
    is not an object. `resource` is the same as a model; None while the document breaks the schema.
    `unknown_kind` is set, without other problems, if the kind is not one of ours: an error if it seems to be
    misspelt, a note if it is foreign. A simulated cluster stores both as they are.
    """

    document: Document | None = None
    kind: Kind | None = None
    resource: Resource | None = None
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    """The warnings about what is read differently than it is written: dropped fields, an old version."""
    unknown_kind: Problem | None = None

    @property
    def accepted(self) -> bool:
        """Whether the document may be stored: its kind is known, and it has no fatal problem."""
        return self.kind is not None and not any(problem.fatal for problem in self.problems)

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        """The problems, that of an unknown kind among them."""
        return self.problems if self.unknown_kind is None else (*self.problems, self.unknown_kind)

    def foreign(self, file: str) -> Problem | None:
        """The note on a document that is none of ours: of another group, or no object at all."""
        if self.unknown_kind is not None:
            return None if self.unknown_kind.fatal else self.unknown_kind
        if self.document is None or self.kind is not None:
            return None
        from syncret.config.schema.unknown_kinds import of_no_object  # most documents are objects

        return of_no_object(file, self.document)


def admit(document: Json, catalog: Catalog, previous: Document | None = None) -> AdmissionResult:
    """Admit one document, which is not changed; `previous` is the stored version that it replaces."""
    return _admission_of(catalog).admit(document, previous)


class Admission:
    """Admits documents by one catalog; a kind's schema is compiled when its first document comes."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._kinds = Kinds(catalog)
        self._schemas: dict[type[Model], Schema] = {}

    def admit(self, document: Json, previous: Document | None = None) -> AdmissionResult:
        """Admit one document, as the module's function does."""
        if not is_object(document):
            return AdmissionResult(
                problems=(Problem(path="", message="must be an object with apiVersion and kind"),)
            )
        if not (_is_text(document.get("apiVersion")) and _is_text(document.get("kind"))):
            return AdmissionResult(document=document, problems=tuple(_head_problems(document)))
        group, _, version = document["apiVersion"].rpartition("/")
        name = GroupKind(group, document["kind"])
        kind = self._kinds.find(name)
        if kind is None:
            return self._unknown_kind(document, name)
        if version not in kind.versions:
            return AdmissionResult(document=document, problems=(_wrong_version(kind, version),))
        try:
            return self._known(document, kind, version, previous)
        except BrokenEntry as broken:
            problem = Problem(path="kind", message=broken.message, hint=broken.hint)
            return AdmissionResult(document=document, problems=(problem,))

    def _known(
        self, document: Document, kind: Kind, version: str, previous: Document | None
    ) -> AdmissionResult:
        problems = [*_conversion_warnings(document, kind, version)]
        metadata: Json = document.get("metadata")
        if is_object(metadata):
            problems += check_server_fields(metadata)
        stored, found = self._schema(kind).admit(_normalized(document, kind))
        problems += found
        warnings = tuple([problem for problem in problems if not problem.fatal]) if problems else ()
        wrong = [problem.path for problem in found if problem.fatal] if found else ()
        if not (wrong and any(path.startswith("metadata") for path in wrong)):
            problems += check_metadata(stored["metadata"], name_is_label=kind == NAMESPACE)
        if wrong:
            return AdmissionResult(document=stored, kind=kind, problems=tuple(problems), warnings=warnings)
        resource: Any = msgspec.convert(stored, kind.model)
        if kind.check is not None:
            problems += kind.check(resource, self._catalog)
        if previous is not None:
            problems += self._schema(kind).changes(stored, previous)
            if kind.update_check is not None:
                problems += kind.update_check(previous, stored)
        return AdmissionResult(
            document=stored, kind=kind, resource=resource, problems=tuple(problems), warnings=warnings
        )

    def _schema(self, kind: Kind) -> Schema:
        schema = self._schemas.get(kind.model)
        if schema is None:
            typed = Severity.ERROR if kind.webhook else Severity.WARNING
            schema = Schema.of(kind.model, self._catalog, typed=typed)
            self._schemas[kind.model] = schema
        return schema

    def _unknown_kind(self, document: Document, name: GroupKind) -> AdmissionResult:
        from syncret.config.schema.unknown_kinds import of_unknown_kind  # most documents are ours

        problem = of_unknown_kind(name, self._kinds.known())
        if name.group in OUR_GROUPS:
            return AdmissionResult(document=document, problems=(problem,))
        return AdmissionResult(document=document, unknown_kind=problem)


@lru_cache(maxsize=8)
def _admission_of(catalog: Catalog) -> Admission:
    return Admission(catalog)


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and value != ""


def _head_problems(document: Document) -> Iterator[Problem]:
    for field in ("apiVersion", "kind"):
        if not _is_text(document.get(field)):
            example = EXTERNAL_SECRET.api_version if field == "apiVersion" else EXTERNAL_SECRET.kind
            message = "must be a string" if document.get(field) else "is required"
            yield Problem(path=field, message=message, hint=f"write {field}: {example}, for example")


def _wrong_version(kind: Kind, version: str) -> Problem:
    return Problem(
        path="apiVersion",
        message=f'{kind.kind} has no version "{version}"',
        hint=f"write {kind.api_version}",
    )


def _conversion_warnings(document: Document, kind: Kind, version: str) -> Iterator[Problem]:
    """Warnings about what `_normalized` corrects: an old version, a namespace on a cluster-scoped object."""
    if version != kind.versions[0]:
        yield Problem(
            path="apiVersion",
            message=f"{version} is no longer served by clusters; it is read as {kind.versions[0]}",
            hint=f"write {kind.api_version}",
            severity=Severity.WARNING,
        )
    metadata: Json = document.get("metadata")
    namespace: Json = metadata.get("namespace") if is_object(metadata) else None
    if not kind.namespaced and isinstance(namespace, str) and namespace:
        yield Problem(
            path="metadata.namespace",
            message=f"a {kind.kind} is not namespaced; the field is dropped",
            hint="remove it",
            severity=Severity.WARNING,
        )


def _normalized(document: Document, kind: Kind) -> Document:
    """A copy to validate: in the storage version, without the server's fields, in a namespace if needed."""
    prepared = dict(document)
    if kind.has_status:
        prepared.pop("status", None)
    prepared["apiVersion"] = kind.api_version
    metadata: Json = prepared.get("metadata")
    if metadata is None:
        metadata = {}
    if is_object(metadata):
        metadata = drop_server_fields(metadata)
        namespace: Json = metadata.get("namespace")
        if not kind.namespaced and (namespace is None or isinstance(namespace, str)):
            metadata.pop("namespace", None)
        elif kind.namespaced and (namespace is None or namespace == ""):
            metadata["namespace"] = DEFAULT_NAMESPACE
    prepared["metadata"] = metadata
    return prepared
