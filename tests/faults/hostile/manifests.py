"""What a hostile manifest is, and the documents that most of them are made of."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import yaml

Document: TypeAlias = dict[str, Any]
End: TypeAlias = Literal["ready", "not ready", "refused", "any"]
"""It is delivered; its condition says why not; its manifest is refused with the place; or any of these."""

API: Final = "external-secrets.io/v1"
ALPHA: Final = "external-secrets.io/v1alpha1"
GENERATORS: Final = "generators.external-secrets.io/v1alpha1"
NAMESPACE: Final = "evil"
NAME: Final = "evil"
EVERY: Final = "1s"
MIB: Final = 2**20
LIMITS: Final = "workTime|workMemory|template(Time|Memory|Keys)|makes no keys"
"""Settings that limit what an object may cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hostile:
    """A manifest whose author wants to stop the daemon, or to take all of its memory.

    Attributes:
        manifest: its text for the URL of a hostile server.
        end: what becomes of the object `kind` named `evil`, in the namespace `evil` if it has one.
        says: a regular expression that the condition, or the problem of the manifest, contains.
        suffix: of the file.
        quick: whether it is part of `make test-slow`.
    """

    name: str
    tried: str
    manifest: Callable[[str], str]
    end: End = "not ready"
    says: str = ""
    kind: str = "ExternalSecret"
    suffix: str = ".yaml"
    quick: bool = False

    @property
    def namespace(self) -> str:
        """That of the object; empty for one of the whole cluster."""
        return "" if self.kind.startswith("Cluster") else NAMESPACE


class _Dumper(yaml.CSafeDumper):
    """Writes what occurs twice a second time."""

    def ignore_aliases(self, data: object) -> bool:
        """None is ever used."""
        del data
        return True


def written(*documents: Document) -> str:
    """The documents as YAML, every text in one line."""
    return yaml.dump_all(documents, Dumper=_Dumper, allow_unicode=True, width=10**9, sort_keys=False)


def same(*documents: Document) -> Callable[[str], str]:
    """A manifest that needs no server."""
    return lambda _url: written(*documents)


def many(documents: Callable[[], Iterable[Document]]) -> Callable[[str], str]:
    """The same, of very many documents: they are made when they are needed."""
    return lambda _url: written(*documents())


def document(api_version: str, kind: str, name: str, spec: Mapping[str, Any], **metadata: Any) -> Document:  # noqa: ANN401  # labels, annotations
    """An object of the hostile namespace."""
    head = {"name": name, "namespace": NAMESPACE, **metadata}
    return {"apiVersion": api_version, "kind": kind, "metadata": head, "spec": dict(spec)}


def external(
    *,
    data: Iterable[Mapping[str, Any]] = (),
    data_from: Iterable[Mapping[str, Any]] = (),
    name: str = NAME,
    **spec: Any,  # noqa: ANN401  # other fields
) -> Document:
    """An ExternalSecret that is due again and again."""
    made: Document = {"refreshInterval": EVERY, "secretStoreRef": {"name": "evil"}}
    if entries := list(data):
        made["data"] = entries
    if entries := list(data_from):
        made["dataFrom"] = entries
    return document(API, "ExternalSecret", name, made | spec)


def read(key: str = "k", *, to: str = "k", **reference: str) -> Document:
    """One entry of `data`."""
    return {"secretKey": to, "remoteRef": {"key": key, **reference}}


def extract(key: str = "k", **more: Any) -> Document:  # noqa: ANN401  # rewrite, and fields of the reference
    """One entry of `dataFrom`."""
    rewrite = {"rewrite": more.pop("rewrite")} if "rewrite" in more else {}
    return {"extract": {"key": key, **more}, **rewrite}


def store(provider: str, spec: Mapping[str, Any], name: str = "evil", **metadata: Any) -> Document:  # noqa: ANN401  # labels
    """A SecretStore."""
    return document(API, "SecretStore", name, {"provider": {provider: dict(spec)}}, **metadata)


def fake(values: Mapping[str, str], name: str = "evil") -> Document:
    """A store with these values in its manifest."""
    return store("fake", {"data": [{"key": key, "value": value} for key, value in values.items()]}, name)


def webhook(url: str, **spec: Any) -> Document:  # noqa: ANN401  # other fields
    """A store behind a URL."""
    return store("webhook", {"url": url, **spec})


def generator(kind: str, spec: Mapping[str, Any], name: str = "evil") -> Document:
    """A generator."""
    return document(GENERATORS, kind, name, spec)


def generated(kind: str, name: str = "evil", **more: Any) -> Document:  # noqa: ANN401  # rewrite
    """An entry of `dataFrom` that asks it."""
    return {"sourceRef": {"generatorRef": {"apiVersion": GENERATORS, "kind": kind, "name": name}}, **more}


def templated(template: Mapping[str, Any], **values: str) -> tuple[Document, Document]:
    """A store, and an ExternalSecret with this template over its values."""
    reads = [read(key, to=key) for key in values]
    return fake(values), external(data=reads, target={"template": dict(template)})


def secret(name: str, values: Mapping[str, str], **labels: str) -> Document:
    """A Secret of a manifest."""
    head = {"name": name, "namespace": NAMESPACE, "labels": labels}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": head, "stringData": dict(values)}


def push(secret_name: str = "given", **spec: Any) -> Document:  # noqa: ANN401  # other fields
    """A PushSecret of a Secret."""
    made = {
        "refreshInterval": EVERY,
        "secretStoreRefs": [{"name": "evil"}],
        "selector": {"secret": {"name": secret_name}},
    }
    return document(ALPHA, "PushSecret", NAME, made | spec)
