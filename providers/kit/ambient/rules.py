"""Where an identity of the daemon itself may go: to the clouds' own servers, and to those in the settings.

Pure: the daemon, `syncret validate`, `plan` and `explain` get the same verdicts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from syncret.config.servers import Server, server_of, server_pattern
from syncret.config.settings import OwnIdentity, OwnReceiver, Settings, several_authors
from syncret.providers.contract import Receiver
from syncret.providers.kit.ambient.known_servers import is_known

SETTING: Final = "ownIdentity.receivers"
EXPORTS: Final = "ownIdentity.azure.exportNamespaces"
CLOUD: Final = "the cloud's own server"

_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "azurekv": ("AZURE_AUTHORITY_HOST",),
    "azurerm": ("AZURE_AUTHORITY_HOST", "AZURE_RESOURCE_MANAGER_ENDPOINT"),
    "vault": ("VAULT_ADDR",),
}
"""Variables of the daemon's own environment that name a server, which is thereby allowed."""


class Verdict(NamedTuple):
    """Whether a receiver may have the identity, and the reason."""

    receiver: Receiver
    allowed: bool
    by: str = ""
    """What allows it: a setting, a variable, or that the server is the cloud's own; empty: nothing."""
    reason: str = ""
    """Why it is refused."""
    hint: str = ""
    audience: str = ""
    server_id: str = ""

    @property
    def unlisted(self) -> bool:
        """Whether it gets the identity without being named, as there is only one author."""
        return self.allowed and not self.by

    @property
    def usual(self) -> bool:
        """Whether it is allowed without any setting: the server is the cloud's own."""
        return self.allowed and self.by == CLOUD

    @property
    def server(self) -> str:
        """The receiver's server, for messages: nothing else of the URL."""
        return _shown(self.receiver.url)

    def as_document(self) -> dict[str, str | bool]:
        """As JSON reports show it."""
        return {
            "path": self.receiver.path,
            "server": self.server,
            "sends": self.receiver.sends,
            "allowed": self.allowed,
            "by": self.by,
            "hint": self.hint,
        }

    def __str__(self) -> str:
        if not self.allowed:
            return f"{self.reason} ({self.hint})"
        text = f"sends {self.receiver.sends} to {self.server}"
        if self.by:
            return f"{text} (allowed: {self.by})"
        return f"{text}; it would be refused if manifests had several authors ({self.hint})"


class _Rule(NamedTuple):
    by: str
    stores: Literal["all", "cluster"]
    remedy: str
    """The change that allows it for all stores."""
    audience: str = ""
    server_id: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """The setting `ownIdentity`, in this environment. `strict`: what is not allowed is refused."""

    settings: OwnIdentity
    strict: bool
    environment: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, settings: Settings, environment: Mapping[str, str]) -> "Rules":
        """The rules of the daemon's settings: strict where manifests have several authors, unless chosen."""
        chosen = settings.own_identity
        strict = several_authors(settings) if chosen.mode == "auto" else chosen.mode == "strict"
        return cls(chosen, strict, environment)

    def verdict(self, receiver: Receiver, *, cluster: bool) -> Verdict:
        """Whether the receiver may have it; `cluster`: for a cluster-scoped store or generator.

        For the exports of a resource its namespace decides: its authors may have the identity.
        """
        if receiver.exports_of is not None:
            if receiver.exports_of not in self.settings.azure.export_namespaces:
                return _not_for_exports(receiver, receiver.exports_of)
            cluster = True
        rules = list(self._matching(receiver))
        rule = next((each for each in rules if cluster or each.stores == "all"), None)
        if rule is not None:
            return self._granted(receiver, rule)
        if rules:
            return Verdict(
                receiver,
                allowed=False,
                reason=f"only cluster-scoped stores may send {receiver.sends} to {_shown(receiver.url)} "
                f"({rules[0].by})",
                hint=rules[0].remedy,
            )
        if self.strict:
            return self._refused(receiver)
        return Verdict(receiver, allowed=True, hint=self._remedy(receiver), server_id=receiver.server_id)

    def _granted(self, receiver: Receiver, rule: _Rule) -> Verdict:
        """The verdict if the rule allows it. A proof is made for the server that the operator names."""
        named = rule.server_id or ("" if self.strict else receiver.server_id)
        if receiver.server_id and receiver.server_id != named:
            return Verdict(
                receiver,
                allowed=False,
                reason=f"the server ID for {_shown(receiver.url)} is not the one of {rule.by}",
                hint=f"write {{url: {_shown(receiver.url)}, serverId: {receiver.server_id}}} into "
                f"{SETTING}.{receiver.provider}, or correct the ID",
            )
        return Verdict(receiver, allowed=True, by=rule.by, audience=rule.audience, server_id=named)

    def _refused(self, receiver: Receiver) -> Verdict:
        return Verdict(
            receiver,
            allowed=False,
            reason=f"{receiver.sends} must not be sent to {_shown(receiver.url)}",
            hint=self._remedy(receiver),
        )

    def _remedy(self, receiver: Receiver) -> str:
        server = server_of(receiver.url)
        if server is None:
            return "write the URL with https:// and a plain host name"
        return f"allow it with {SETTING}.{receiver.provider}: [{server}], or name credentials in the store"

    def _matching(self, receiver: Receiver) -> Iterator[_Rule]:
        server = server_of(receiver.url)
        if server is None:
            return
        provider = receiver.provider
        usual: Literal["all", "cluster"] = "cluster" if self.strict else "all"
        for place, entry in enumerate(self.settings.receivers.get(provider, ())):
            written = OwnReceiver(url=entry) if isinstance(entry, str) else entry
            if _covers(written.url, server):
                by = f"{SETTING}.{provider}[{place}]"
                remedy = f"use a cluster-scoped one, or write stores: all into {by}"
                stores = written.stores or usual
                yield _Rule(by, stores, remedy, written.audience, written.server_id)
        for name in _VARIABLES.get(provider, ()):
            if _covers(self.environment.get(name, ""), server):
                entry = f"{{url: {server}, stores: all}}"
                remedy = f"use a cluster-scoped one, or write {entry} into {SETTING}.{provider}"
                yield _Rule(name, usual, remedy)
        if is_known(provider, server):
            alone = provider in self.settings.cluster_only
            remedy = f"use a cluster-scoped one, or take {provider} out of ownIdentity.clusterOnly"
            by = "ownIdentity.clusterOnly" if alone else CLOUD
            yield _Rule(by, "cluster" if alone else "all", remedy)


def _not_for_exports(receiver: Receiver, namespace: str) -> Verdict:
    return Verdict(
        receiver,
        allowed=False,
        reason=f"exports of resources in namespace {namespace} must not use {receiver.sends}",
        hint="write credentials into a Secret aso-credential of that namespace, or the namespace into "
        f"{EXPORTS}",
    )


def _covers(text: str, server: Server) -> bool:
    pattern = server_pattern(text)
    return pattern is not None and pattern.covers(server)


def _shown(url: str) -> str:
    server = server_of(url)
    return "a server whose URL is not plain" if server is None else str(server)
