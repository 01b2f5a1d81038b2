"""Finds references to objects that are not among the given ones: warnings, as they may exist elsewhere."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from syncret.config.errors import Problem, Severity
from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef, is_object, ref_of
from syncret.config.paths import join
from syncret.config.resources.kinds import (
    CLUSTER_SECRET_STORE,
    CONFIG_MAP,
    SECRET,
    SECRET_STORE,
    Role,
    generator_ref,
    kind_named,
    kind_of,
    role_of,
    store_ref,
)
from syncret.config.spelling import by_similarity

_COMPARED: Final = 200
_OTHER_STORE: Final = {
    SECRET_STORE.group_kind: CLUSTER_SECRET_STORE,
    CLUSTER_SECRET_STORE.group_kind: SECRET_STORE,
}
"""The store kinds, each with the other one, as authors confuse them."""
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
    spec, kind = _at(document, "spec"), kind_of(ref.group_kind)
    if spec is None or kind is None:
        return
    if kind.child is not None:
        field = f"{kind.child.field}Spec"
        inner = _by_role(kind.child.role, _at(spec, field) or {}, "", f"spec.{field}")
        # Files do not show which objects exist in the namespaces that a cluster-wide kind selects.
        yield from (one for one in inner if _is_cluster_scoped(one.target))
    else:
        yield from _by_role(kind.role, spec, ref.namespace, "spec")


def _by_role(role: Role, spec: Document, namespace: str, path: str) -> Iterator[Reference]:
    match role:
        case "sync":
            yield from _external_secret(spec, namespace, path)
        case "push":
            yield from _push_secret(spec, namespace, path)
        case "store":
            yield from _selectors(spec.get("provider"), namespace, f"{path}.provider")
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
        yield Reference(f"{path}.selector.secret.name", SECRET.ref(namespace, name))
    yield from _generator(_at(spec, "selector", "generatorRef"), namespace, f"{path}.selector.generatorRef")
    yield from _template(_at(spec, "template"), namespace, f"{path}.template")


def _store(store: Json, namespace: str, path: str) -> Iterator[Reference]:
    name, kind = _text(store, "name"), _text(store, "kind") or SECRET_STORE.kind
    if name:
        yield Reference(f"{path}.name", store_ref(kind, name, namespace))


def _generator(generator: Json, namespace: str, path: str) -> Iterator[Reference]:
    name, kind = _text(generator, "name"), _text(generator, "kind")
    if name and kind:
        yield Reference(f"{path}.name", generator_ref(kind, name, namespace))


def _template(template: Document | None, namespace: str, path: str) -> Iterator[Reference]:
    for place, entry in _entries((template or {}).get("templateFrom")):
        for kind in (CONFIG_MAP, SECRET):
            name = _text(entry.get(kind.field), "name")
            if name:
                yield Reference(f"{path}.templateFrom[{place}].{kind.field}.name", kind.ref(namespace, name))


def _selectors(value: Json, namespace: str, path: str) -> Iterator[Reference]:
    """Everything that looks like a selector of a Secret or ConfigMap, however deep in a provider's spec."""
    if not is_object(value):
        return
    name, where = _text(value, "name"), _text(value, "namespace") or namespace
    kind = kind_named(_text(value, "type")) if "type" in value else SECRET
    if name and where and kind in (SECRET, CONFIG_MAP) and "key" in value:
        if value.keys() <= _SELECTOR | {"type"}:
            yield Reference(f"{path}.name", kind.ref(where, name))
        return
    for field, inner in value.items():
        yield from _selectors(inner, namespace, join(path, field))


def _is_cluster_scoped(ref: ObjectRef) -> bool:
    kind = kind_of(ref.group_kind)
    return kind is not None and not kind.namespaced


def _outputs(named: Iterable[tuple[ObjectRef, Document]]) -> Iterator[ObjectRef]:
    """The target Secrets of ExternalSecrets."""
    for ref, document in named:
        if role_of(ref.group_kind) == "sync":
            target = _at(document, "spec", "target") or {}
            if "manifest" not in target:
                yield SECRET.ref(ref.namespace, _text(target, "name") or ref.name)


_Given: TypeAlias = Mapping[ObjectRef, Mapping[str, None]]
"""The names of the given objects, by ref without a name."""


def _dangling(found: Iterable[Reference], given: _Given) -> Iterator[Problem]:
    for path, target in found:
        names = given.get(target._replace(name=""), {})
        if target.name in names:
            continue
        near, _ = by_similarity(target.name, islice(names, _COMPARED))
        nearest = f"did you mean {near[0]}?" if near else "it must exist where these files are used"
        yield Problem(
            path=path,
            message=f"{target} is not among the given files",
            hint=found_elsewhere(target, _namesakes(target, given)) or nearest,
            severity=Severity.WARNING,
        )


def _namesakes(target: ObjectRef, given: _Given) -> list[ObjectRef]:
    return [ref._replace(name=target.name) for ref, names in given.items() if target.name in names]


def other_store(store: ObjectRef, namespace: str) -> ObjectRef:
    """The store of the other kind and the same name that an object of a namespace might mean."""
    return store_ref(_OTHER_STORE[store.group_kind].kind, store.name, namespace)


def found_elsewhere(target: ObjectRef, namesakes: Sequence[ObjectRef]) -> str:
    """The hint if a store of that name is of the other kind, or an object of it is in another namespace."""
    kind = _OTHER_STORE.get(target.group_kind)
    for ref in namesakes:
        if kind is not None and ref.group_kind == kind.group_kind:
            return f"{ref} is there: write kind: {kind.kind}"
    for ref in namesakes:
        if ref.group_kind == target.group_kind:
            remedy = ", or use a ClusterSecretStore" if kind is not None else ""
            return f"{ref} is there, in another namespace: define it in {target.namespace}{remedy}"
    return ""


def _is_named(document: Document) -> bool:
    metadata: Json = document.get("metadata")
    heads = (document.get("apiVersion"), document.get("kind"), _text(metadata, "name"))
    namespace = metadata.get("namespace") if is_object(metadata) else None
    return all(isinstance(head, str) and head for head in heads) and isinstance(namespace, str | None)


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
