"""A small catalog, and short ways to write documents."""

from collections.abc import Collection, Iterator
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from syncret.config.catalog import Scope, SpecType
from syncret.config.errors import Problem
from syncret.config.fields import Defaulted, Json, Model, Rule, SecretKeySelector, exactly_one
from syncret.config.meta import Document


class FakeEntry(Model):
    key: str
    value: str


class FakeSpec(Model):
    data: tuple[FakeEntry, ...]


class VaultAuth(Model):
    RULES: ClassVar[tuple[Rule, ...]] = (exactly_one("token", "role"),)

    token: SecretKeySelector | None = None
    role: str | None = None


class VaultSpec(Model):
    """A store in Vault."""

    server: str
    version: Literal["v1", "v2"] = "v2"
    auth: VaultAuth | None = None


class PasswordSpec(Model):
    length: int = 24
    no_upper: Defaulted[bool] = False
    secret_keys: Annotated[tuple[str, ...], Meta(min_length=1)] = ()


class UuidSpec(Model):
    pass


def check_fake(spec: FakeSpec, scope: Scope) -> Iterator[Problem]:
    for place, entry in enumerate(spec.data):
        if not entry.value:
            yield Problem(path=f"data[{place}].value", message=f"must be set ({scope.namespace})")


def check_password(spec: PasswordSpec, _scope: Scope) -> Iterator[Problem]:
    if spec.length > 1000:
        yield Problem(path="length", message="is too long")


class SmallCatalog:
    """Two stores and two generators."""

    stores: ClassVar[dict[str, SpecType[Any]]] = {
        "fake": SpecType("fake", FakeSpec, check_fake, maintained=False),
        "vault": SpecType("vault", VaultSpec),
    }
    generators: ClassVar[dict[str, SpecType[Any]]] = {
        "Password": SpecType("Password", PasswordSpec, check_password),
        "UUID": SpecType("UUID", UuidSpec),
    }

    def store_names(self) -> Collection[str]:
        return self.stores.keys()

    def store(self, name: str) -> SpecType[Any]:
        return self.stores[name]

    def generator_kinds(self) -> Collection[str]:
        return self.generators.keys()

    def generator(self, kind: str) -> SpecType[Any]:
        return self.generators[kind]


CATALOG = SmallCatalog()


def document(kind: str, spec: Document | None = None, *, version: str = "v1", **metadata: Json) -> Document:
    """One object of the group external-secrets.io."""
    api = {"PushSecret": "v1alpha1", "ClusterPushSecret": "v1alpha1"}.get(kind, version)
    made: Document = {
        "apiVersion": f"external-secrets.io/{api}",
        "kind": kind,
        "metadata": {"name": "x", **metadata},
    }
    return made if spec is None else {**made, "spec": spec}


def external_secret(**spec: Json) -> Document:
    """An ExternalSecret that is sound, but for what is given."""
    data = [{"secretKey": "a", "remoteRef": {"key": "/a"}}]
    return document("ExternalSecret", {"secretStoreRef": {"name": "s"}, "data": data, **spec})


def push_secret(**spec: Json) -> Document:
    """A PushSecret that is sound, but for what is given."""
    stores = [{"name": "s"}]
    return document(
        "PushSecret", {"secretStoreRefs": stores, "selector": {"secret": {"name": "src"}}, **spec}
    )


def store(provider: Json = None, kind: str = "SecretStore", **spec: Json) -> Document:
    """A store that is sound, but for what is given."""
    given = {"fake": {"data": [{"key": "a", "value": "b"}]}} if provider is None else provider
    return document(kind, {"provider": given, **spec})


def core(kind: str, **fields: Json) -> Document:
    """One object of Kubernetes itself."""
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}, **fields}


def messages(problems: tuple[Problem, ...]) -> list[str]:
    """The problems in short: path and message, warnings with a question mark."""
    return [f"{'' if each.fatal else '?'}{each.path}: {each.message}" for each in problems]
