"""Finds references to objects that are not among the given ones: warnings, as they may exist elsewhere."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from syncret.config.errors import Problem, Severity
from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef, is_object, ref_of
from syncret.config.paths import join
from syncret.config.resources.base import GENERATORS_GROUP, GROUP
from syncret.config.spelling import by_similarity

_COMPARED: Final = 200
_SELECTOR: Final = frozenset({"name", "key", "namespace"})


class Reference(NamedTuple):
    """An object that is referred to, and the field that refers to it."""

    path: str
    target: ObjectRef


def missing_references(documents: Iterable[Document]) -> Mapping[ObjectRef, tuple[Problem, ...]]:
    """The dangling references of each document, by its ref; documents as `admit` returns them.

    The targets of the ExternalSecrets among them count as given.
    """
    named = [(ref_of(document), document) for document in documents if _is_named(document)]
    given: dict[ObjectRef, dict[str, None]] = {}
    for ref in (*(ref for ref, _ in named), *_outputs(named)):
        given.setdefault(ref._replace(name=""), {})[ref.name] = None
    found = {ref: tuple(_dangling(references(document), given)) for ref, document in named}
    return {ref: problems for ref, problems in found.items() if problems}


def references(document: Document) -> Iterator[Reference]:
    """Every object that a document refers to, if its namespace is known."""
    ref = ref_of(document)
    spec = _at(document, "spec")
    if ref.group != GROUP or spec is None:
        return
    match ref.kind:
        case "ExternalSecret":
            yield from _external_secret(spec, ref.namespace, "spec")
        case "ClusterExternalSecret":
            inner = _at(spec, "externalSecretSpec") or {}
            yield from _cluster_scoped(_external_secret(inner, "", "spec.externalSecretSpec"))
        case "PushSecret":
            yield from _push_secret(spec, ref.namespace, "spec")
        case "ClusterPushSecret":
            inner = _at(spec, "pushSecretSpec") or {}
            yield from _cluster_scoped(_push_secret(inner, "", "spec.pushSecretSpec"))
        case "SecretStore" | "ClusterSecretStore":
            yield from _selectors(spec.get("provider"), ref.namespace, "spec.provider")
        case _:
            pass


def _external_secret(spec: Document, namespace: str, path: str) -> Iterator[Reference]:
    yield from _store(spec.get("secretStoreRef"), namespace, join(path, "secretStoreRef"))
    for field in ("data", "dataFrom"):
        for place, entry in _entries(spec.get(field)):
            where = f"{path}.{field}[{place}].sourceRef"
            source = _at(entry, "sourceRef") or {}
            yield from _store(source.get("storeRef"), namespace, f"{where}.storeRef")
            if field == "dataFrom":
                yield from _generator(source.get("generatorRef"), namespace, f"{where}.generatorRef")
    yield from _template(_at(spec, "target", "template"), namespace, f"{path}.target.template")


def _push_secret(spec: Document, namespace: str, path: str) -> Iterator[Reference]:
    for place, entry in _entries(spec.get("secretStoreRefs")):
        yield from _store(entry, namespace, f"{path}.secretStoreRefs[{place}]")
    for place, entry in _entries(spec.get("dataTo")):
        yield from _store(entry.get("storeRef"), namespace, f"{path}.dataTo[{place}].storeRef")
    name = _text(_at(spec, "selector", "secret"), "name")
    if name:
        yield Reference(f"{path}.selector.secret.name", ObjectRef("", "Secret", namespace, name))
    yield from _generator(_at(spec, "selector", "generatorRef"), namespace, f"{path}.selector.generatorRef")
    yield from _template(_at(spec, "template"), namespace, f"{path}.template")


def _store(store: Json, namespace: str, path: str) -> Iterator[Reference]:
    name, kind = _text(store, "name"), _text(store, "kind") or "SecretStore"
    if name:
        where = "" if kind == "ClusterSecretStore" else namespace
        yield Reference(f"{path}.name", ObjectRef(GROUP, kind, where, name))


def _generator(generator: Json, namespace: str, path: str) -> Iterator[Reference]:
    name, kind = _text(generator, "name"), _text(generator, "kind")
    if name and kind:
        where = "" if kind == "ClusterGenerator" else namespace
        yield Reference(f"{path}.name", ObjectRef(GENERATORS_GROUP, kind, where, name))


def _template(template: Document | None, namespace: str, path: str) -> Iterator[Reference]:
    for place, entry in _entries((template or {}).get("templateFrom")):
        for field, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
            name = _text(entry.get(field), "name")
            if name:
                yield Reference(
                    f"{path}.templateFrom[{place}].{field}.name", ObjectRef("", kind, namespace, name)
                )


def _selectors(value: Json, namespace: str, path: str) -> Iterator[Reference]:
    """Everything that looks like a selector of a Secret or ConfigMap, however deep in a provider's spec."""
    if not is_object(value):
        return
    name, where = _text(value, "name"), _text(value, "namespace") or namespace
    kind = _text(value, "type") if "type" in value else "Secret"
    if name and where and kind in {"Secret", "ConfigMap"} and "key" in value:
        if value.keys() <= _SELECTOR | {"type"}:
            yield Reference(f"{path}.name", ObjectRef("", kind, where, name))
        return
    for field, inner in value.items():
        yield from _selectors(inner, namespace, join(path, field))


def _cluster_scoped(found: Iterable[Reference]) -> Iterator[Reference]:
    """Only cluster-scoped references: files do not show what exists in the selected namespaces."""
    return (one for one in found if one.target.kind in {"ClusterSecretStore", "ClusterGenerator"})


def _outputs(named: Iterable[tuple[ObjectRef, Document]]) -> Iterator[ObjectRef]:
    """The target Secrets of ExternalSecrets."""
    for ref, document in named:
        if ref.group_kind == (GROUP, "ExternalSecret"):
            target = _at(document, "spec", "target") or {}
            if "manifest" not in target:
                yield ObjectRef("", "Secret", ref.namespace, _text(target, "name") or ref.name)


def _dangling(found: Iterable[Reference], given: Mapping[ObjectRef, Mapping[str, None]]) -> Iterator[Problem]:
    for path, target in found:
        names = given.get(target._replace(name=""), {})
        if target.name in names:
            continue
        near, _ = by_similarity(target.name, islice(names, _COMPARED))
        yield Problem(
            path=path,
            message=f"{target} is not among the given files",
            hint=f"did you mean {near[0]}?" if near else "it must exist where these files are used",
            severity=Severity.WARNING,
        )


def _is_named(document: Document) -> bool:
    heads = (document.get("apiVersion"), document.get("kind"), _text(document.get("metadata"), "name"))
    return all(isinstance(head, str) and head for head in heads)


def _at(value: Json, *fields: str) -> Document | None:
    for field in fields:
        value = value.get(field) if is_object(value) else None
    return value if is_object(value) else None


def _text(value: Json, field: str) -> str:
    text = value.get(field) if is_object(value) else None
    return text if isinstance(text, str) else ""


def _entries(value: Json) -> Iterator[tuple[int, Document]]:
    for place, entry in enumerate(value if value.__class__ is list else ()):
        if is_object(entry):
            yield place, entry
