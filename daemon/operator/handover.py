"""Replaces certificates of our own by those of cert-manager, while the webhook can be called all the time.

Until cert-manager has issued one, nothing old is touched. Then our cert-controller is stopped, so that only
one of them writes `caBundle`. The API server trusts both authorities while the webhook is rolled out, and
only cert-manager's afterwards. What is not needed any more is deleted last.
"""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Sequence
from typing import Final

from syncret.config.meta import Document, ObjectRef, member
from syncret.config.resources.kinds import SECRET
from syncret.daemon.core.webhook_names import CONFIGURATIONS
from syncret.daemon.engine.writes import Writes, delete_if_there
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.install.operator.choices import CertManager, Choices
from syncret.daemon.install.operator.components import NAME
from syncret.daemon.operator.cluster import DEPLOYMENT, WEBHOOKS, Cluster
from syncret.daemon.operator.status import waiting

INJECT: Final = "cert-manager.io/inject-ca-from"
_WEBHOOK: Final = f"{NAME}-webhook"
_ISSUED: Final = f"{_WEBHOOK}-cm"
_KEEPER: Final = f"{NAME}-cert-controller"
_NEEDED: Final = frozenset({"Namespace", "Certificate"})


class Handover:
    """The progress of the handover, as a run finds it."""

    def __init__(self, cluster: Cluster, namespace: str, issued: CertManager, authority: bytes) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._issued = issued
        self._authority = authority
        """The authority of the issued certificate; empty: none is issued yet."""

    @classmethod
    async def of(cls, cluster: Cluster, chosen: Choices) -> "Handover | None":
        """None where cert-manager issues no certificates. Raises HomeError."""
        if chosen.cert_manager is None:
            return None
        data = await cluster.applier.data_of(SECRET.ref(chosen.namespace, _ISSUED))
        authority = _decoded(data.get("ca.crt")) if data.get("tls.crt") else b""
        return cls(cluster, chosen.namespace, chosen.cert_manager, authority)

    @property
    def waits(self) -> str:
        """What the run waits for before anything old is touched."""
        if self._authority:
            return ""
        return f"waits for cert-manager: Secret {self._namespace}/{_ISSUED} has no certificate yet"

    def allowed(self, documents: Sequence[Document], first: int) -> Sequence[Document]:
        """The objects that may be applied now; the `first` few always may."""
        if not self._authority and self._keeper() is not None:
            return [*documents[:first], *(each for each in documents[first:] if each["kind"] in _NEEDED)]
        if self.is_over():
            return documents
        return [_without_injection(each) for each in documents]

    def is_over(self) -> bool:
        """Whether the webhook runs with the new certificate, so that the old one may be deleted."""
        live = self._live(DEPLOYMENT, _WEBHOOK)
        if not self._authority or live is None:
            return False
        volumes = member(live.document, "spec", "template", "spec").get("volumes", ())
        mounted = any(member(each, "secret").get("secretName") == _ISSUED for each in volumes)
        return mounted and not waiting([(_WEBHOOK, live.document)])

    async def begin(self, writes: Writes) -> None:
        """Stop the cert-controller, and let the API server trust both authorities."""
        keeper = self._keeper()
        if not self._authority or keeper is None:
            return
        await delete_if_there(writes, keeper)
        await self._trust(writes, keep=True)

    async def end(self, writes: Writes) -> None:
        """Let the API server trust the new authority, alone once the webhook runs with it."""
        is_over = self.is_over()
        if self._authority and not (is_over and self._issued.inject):
            await self._trust(writes, keep=not is_over)

    async def _trust(self, writes: Writes, *, keep: bool) -> None:
        for name in CONFIGURATIONS:
            live = self._live(WEBHOOKS, name)
            if live is None:
                continue
            operations: list[Document] = []
            for index, each in enumerate(live.document.get("webhooks") or ()):
                before = _decoded(member(each, "clientConfig").get("caBundle"))
                wanted = self._authority
                if keep and before and self._authority not in before:
                    wanted = before.rstrip(b"\n") + b"\n" + self._authority
                elif keep and before:
                    wanted = before
                if wanted != before:
                    path = f"/webhooks/{index}/clientConfig/caBundle"
                    operations.append({"op": "add", "path": path, "value": b64encode(wanted).decode()})
            if operations:
                await self._edit(live, operations, writes)

    async def _edit(self, live: StoredObject, operations: Sequence[Document], writes: Writes) -> None:
        await writes.call(lambda: self._cluster.applier.edit(live, operations))

    def _keeper(self) -> StoredObject | None:
        return self._live(DEPLOYMENT, _KEEPER)

    def _live(self, kind: tuple[str, str], name: str) -> StoredObject | None:
        namespace = self._namespace if kind == DEPLOYMENT else ""
        return self._cluster.inventory.get(ObjectRef(*kind, namespace, name))


def _without_injection(document: Document) -> Document:
    """A webhook configuration that cert-manager does not write to yet."""
    annotations = member(document, "metadata", "annotations")
    if document["kind"] != WEBHOOKS.kind or INJECT not in annotations:
        return document
    kept = {name: value for name, value in annotations.items() if name != INJECT}
    metadata = {**document["metadata"], "annotations": kept}
    if not kept:
        del metadata["annotations"]
    return {**document, "metadata": metadata}


def _decoded(text: object) -> bytes:
    try:
        return b64decode(str(text or ""))
    except (NotBase64, ValueError):
        return b""
