"""CustomResourceDefinitions of our kinds, as a cluster needs them.

Names, columns, versions and subresources are those of the External Secrets Operator's own, so that these can
replace them in place.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from syncret.config.catalog import Catalog
from syncret.config.meta import Document
from syncret.config.resources import kinds
from syncret.config.resources.base import GENERATORS_GROUP, OPERATOR_GROUP, SYNCRET_GROUP
from syncret.config.resources.kinds import Kind
from syncret.config.schema.openapi import openapi, validation

COMPONENT: Final = "external-secrets.io/component"
"""The label of everything that belongs to an installation; its value for a CRD is `controller`."""
LARGEST: Final = 240_000
"""Bytes of one CRD. `kubectl apply` keeps a copy in an annotation, and all of these have room for 256 KiB."""


class _Column(NamedTuple):
    name: str
    path: str
    type: str = "string"


def _condition(member: str) -> str:
    return f'.status.conditions[?(@.type=="Ready")].{member}'


_AGE: Final = _Column("AGE", ".metadata.creationTimestamp", "date")
_STATUS: Final = _Column("Status", _condition("reason"))
_READY: Final = _Column("Ready", _condition("status"))
_LAST_SYNC: Final = _Column("Last Sync", ".status.refreshTime", "date")
_STORE: Final = (_AGE, _STATUS, _Column("Capabilities", ".status.capabilities"), _READY)

_COLUMNS: Final[dict[Kind, Sequence[_Column]]] = {
    kinds.EXTERNAL_SECRET: (
        _Column("StoreType", ".spec.secretStoreRef.kind"),
        _Column("Store", ".spec.secretStoreRef.name"),
        _Column("Refresh Interval", ".spec.refreshInterval"),
        *(_STATUS, _READY, _LAST_SYNC),
    ),
    kinds.SECRET_STORE: _STORE,
    kinds.CLUSTER_SECRET_STORE: _STORE,
    kinds.CLUSTER_EXTERNAL_SECRET: (
        _Column("Store", ".spec.externalSecretSpec.secretStoreRef.name"),
        _Column("Refresh Interval", ".spec.refreshTime"),
        _READY,
    ),
    kinds.PUSH_SECRET: (_AGE, _STATUS, _LAST_SYNC),
    kinds.CLUSTER_PUSH_SECRET: (_AGE, _STATUS),
    kinds.EXTERNAL_SECRETS_CONFIG: (_READY, _Column("Message", _condition("message")), _AGE),
    kinds.EXTERNAL_SECRETS_MANAGER: (_AGE,),
    kinds.DELIVERY: (_Column("Live", ".status.live.generation", "integer"), _STATUS, _READY, _AGE),
    kinds.GENERATOR_STATE: (
        _Column("GC Deadline", ".spec.garbageCollectionDeadline"),
        _Column("Age", ".metadata.creationTimestamp", "date"),
    ),
}
"""What `kubectl get` shows beside the name."""

_SELECTABLE: Final[dict[Kind, Sequence[str]]] = {
    kinds.EXTERNAL_SECRET: (
        *(".spec.secretStoreRef.name", ".spec.secretStoreRef.kind"),
        *(".spec.target.name", ".spec.refreshInterval"),
    )
}
"""The fields that `kubectl get --field-selector` may name, in the stored version."""

_WITHOUT_SHORT_NAME: Final = kinds.CLUSTER_PUSH_SECRET
"""`cps` is known only to our own commands."""
_WITHOUT_STATUS: Final = kinds.GENERATOR_STATE
"""Its status is written with the rest of the object."""
_OPEN: Final[Document] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_FIRST_CLAUSE: Final = re.compile(r"(?:[^.:;]|[.:;](?!\s))+")
_ESCAPED: Final = re.compile(rb"[<>&]")

_Text = Callable[[str], str]


def crd(kind: Kind, catalog: Catalog, *, serve_v1beta1: bool = False, compat: bool = False) -> Document:
    """The CustomResourceDefinition of one kind. Every spec of the catalog is imported.

    One that would be too large for `kubectl apply` has shorter descriptions.

    Args:
        kind: any kind but Kubernetes' own.
        catalog: the providers and generators that a store or ClusterGenerator may name.
        serve_v1beta1: the older version is served, too; otherwise it is only known, for objects stored in it.
        compat: without rules between fields (CEL), for servers that would check the unchanged spec of an
            older object against them whenever its status is written: Kubernetes before 1.30.
    """

    def made(text: _Text) -> Document:
        versions = [_stored_version(kind, catalog, text, compat=compat)]
        versions += [
            _older_version(kind, name, catalog, served=serve_v1beta1, compat=compat)
            for name in kind.versions[1:]
        ]
        return _definition(kind, versions)

    found = made(_whole)
    for text in (_first_clause, _nothing):
        if applied_size(found) <= LARGEST:
            break
        found = made(text)
    return found


def applied_size(document: Document) -> int:
    """Bytes of a document in the annotation of `kubectl apply`: Go writes `<`, `>` and `&` as six bytes."""
    text = msgspec.json.encode(document)
    return len(text) + 5 * len(_ESCAPED.findall(text))


def _definition(kind: Kind, versions: Sequence[Document]) -> Document:
    categories = {
        GENERATORS_GROUP: ["external-secrets", "external-secrets-generators"],
        SYNCRET_GROUP: ["syncret"],
        OPERATOR_GROUP: ["external-secrets-operator", "external-secrets"],
    }.get(kind.group, ["external-secrets"])
    names: Document = {
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "singular": kind.kind.lower(),
        "categories": categories,
    }
    if kind.short_names and kind != _WITHOUT_SHORT_NAME:
        names["shortNames"] = [*kind.short_names]
    spec: Document = {
        "group": kind.group,
        "names": names,
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "versions": [*versions],
    }
    if len(versions) > 1:
        spec["conversion"] = {"strategy": "None"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group}", "labels": _labels(kind)},
        "spec": spec,
    }


def _labels(kind: Kind) -> Document:
    if kind.role == "install":
        return {
            "app.kubernetes.io/name": kind.kind.lower(),
            "app.kubernetes.io/part-of": "external-secrets-operator",
        }
    return {COMPONENT: "controller"}


def _stored_version(kind: Kind, catalog: Catalog, text: _Text, *, compat: bool) -> Document:
    version = _version(kind, kind.versions[0], _schema(kind, catalog, text, compat=compat))
    selectable = _SELECTABLE.get(kind)
    if selectable:
        version["selectableFields"] = [{"jsonPath": path} for path in selectable]
    return version | {"served": True, "storage": True}


def _older_version(kind: Kind, name: str, catalog: Catalog, *, served: bool, compat: bool) -> Document:
    """A version that is read as the stored one. If it is served it has the same fields, otherwise none."""
    version = _version(kind, name, _schema(kind, catalog, _nothing, compat=compat) if served else _OPEN)
    warning = f"{kind.group}/{name} {kind.kind} is deprecated: write apiVersion: {kind.api_version}"
    return version | {"deprecated": True, "deprecationWarning": warning, "served": served, "storage": False}


def _version(kind: Kind, name: str, schema: Document) -> Document:
    version: Document = {"name": name, "schema": {"openAPIV3Schema": schema}}
    columns = _COLUMNS.get(kind)
    if columns:
        version["additionalPrinterColumns"] = [
            {"name": each.name, "type": each.type, "jsonPath": each.path} for each in columns
        ]
    version["subresources"] = {} if kind == _WITHOUT_STATUS else {"status": {}}
    return version


def _schema(kind: Kind, catalog: Catalog, text: _Text, *, compat: bool) -> Document:
    schema = openapi(kind.model, catalog, text=text, rules=not compat)
    for rule in () if compat else kind.rules:
        place = _at(schema, rule.at)
        place.setdefault("x-kubernetes-validations", []).append(validation(rule))
    return schema


def _at(schema: Document, path: str) -> Document:
    for step in path.replace("[]", ".[]").split("."):
        schema = schema["items"] if step == "[]" else schema["properties"][step]
    return schema


def _whole(text: str) -> str:
    return text


def _first_clause(text: str) -> str:
    found = _FIRST_CLAUSE.match(text)
    return text if found is None else found[0]


def _nothing(_text: str) -> str:
    return ""
