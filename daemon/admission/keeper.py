"""Keeps the webhook's certificates in their Secret, and lets the API server trust them.

The active replica does this. A write carries the resource version that was read: if two replicas consider
themselves active, the second write fails with a conflict.
"""

import asyncio
from base64 import b64encode
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec
import structlog
from msgspec import Struct, structs

from syncret.config.meta import Document, ObjectRef, member
from syncret.daemon.admission.authority import Pair
from syncret.daemon.admission.rotation import Certificates, Wanted, rotated
from syncret.daemon.admission.serving_certificate import decoded
from syncret.daemon.core.conditions import seconds
from syncret.daemon.core.webhook_names import COMPONENT, CONFIGURATIONS, CRDS, WEBHOOK, WEBHOOK_CONFIGURATION
from syncret.daemon.homes.contract import Conflict, HomeError, Invalid, StoredObject
from syncret.daemon.homes.kubernetes.api import METADATA_ONLY, ApiServer, NotAllowed
from syncret.daemon.ops.logs.repeats import Repeats, counted
from syncret.providers.kit.http import json_body
from syncret.providers.kit.kube.client import path_of

PUBLISHED: Final = "syncret.dev/next-authority-published"

LOOK_WHILE_WAITING: Final = 1.0
AFTER_A_FAILURE: Final = 10.0

log = structlog.get_logger()


class Place(Struct, frozen=True):
    """An object by namespace and name."""

    namespace: str
    name: str


class CertificateKeeper:
    """Maintains the Secret and `caBundle`. `run` it; it acts only while `is_active`."""

    def __init__(
        self,
        api: ApiServer,
        *,
        secret: Place,
        service: Place,
        wanted: Wanted,
        every: float,
        now: Callable[[], float],
        is_active: Callable[[], bool] = lambda: True,
        on_failure: Callable[[StoredObject, str], object] = lambda _object, _reason: None,
    ) -> None:
        """`on_failure` is called with a configuration that cannot be written, and the reason."""
        self._api = api
        self._secret = secret
        self._service = service
        self._wanted = wanted
        self._every = every
        self._now = now
        self._is_active = is_active
        self._on_failure = on_failure
        self._kept = Certificates()
        """As they were last: what was deleted by mistake is put back."""
        self._unconverted: dict[str, str] = {}
        """The versions of CRDs that no webhook converts."""
        self._repeats = Repeats()
        self.problem = "the certificate has not been read yet"
        """Why the last renewal was not finished; empty if it was."""

    async def run(self) -> None:
        """Check at each interval until cancelled."""
        while True:
            pause = LOOK_WHILE_WAITING
            if self._is_active():
                pause = await self._attempt()
            await asyncio.sleep(pause)

    async def _attempt(self) -> float:
        try:
            await self.renew()
        except Conflict:
            return LOOK_WHILE_WAITING
        except HomeError as error:
            self.problem = str(error)
            times = self._repeats.occurred("look", self.problem)
            if times:
                log.warning(
                    "the webhook's certificate is not seen to",
                    reason=self.problem,
                    hint=getattr(error, "hint", ""),
                    **counted(times),
                )
            return min(AFTER_A_FAILURE, self._every)
        self.problem = ""
        self._repeats.clear()
        return self._every

    async def renew(self) -> None:
        """Renew what is to be renewed, and publish it. Raises HomeError."""
        document = await self._read(self._path, f"Secret/{self._secret.namespace}/{self._secret.name}")
        held = certificates_of(document or {})
        if not held.authority.certificate:
            held = self._kept
        newer = rotated(held, self._wanted, self._now())
        if document is None or newer != certificates_of(document):
            log.info("the webhook's certificates are renewed", authorities=newer.bundle.count(b"BEGIN"))
            document = await self._write(document, newer)
        self._kept = newer
        published = await self._published(newer.bundle)
        if newer.successor.certificate and newer.published is None and published:
            newer = structs.replace(newer, published=self._now())
            await self._write(document, newer)
            self._kept = newer

    async def _published(self, bundle: bytes) -> bool:
        """Write the bundle to all configurations; whether all had it. Raises HomeError, after trying all."""
        unchanged, failure = True, None
        steps = [(self._configure, name) for name in CONFIGURATIONS] + [
            (self._convert, name) for name in CRDS
        ]
        for step, name in steps:
            try:
                unchanged &= await step(name, bundle)
            except HomeError as error:
                failure = error
        if failure is not None:
            raise failure
        return unchanged

    async def _configure(self, name: str, bundle: bytes) -> bool:
        """Write the bundle to one webhook configuration; whether it had it before."""
        path = path_of("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", name=name)
        found = await self._read(path, f"ValidatingWebhookConfiguration/{name}")
        if found is None or member(found, "metadata", "labels").get(COMPONENT) != WEBHOOK:
            return True
        seen = StoredObject(
            ref=ObjectRef(*WEBHOOK_CONFIGURATION, "", name),
            uid=str(member(found, "metadata").get("uid") or ""),
            resource_version=str(member(found, "metadata").get("resourceVersion") or ""),
            data=msgspec.json.encode(found),
        )
        clients = [each.setdefault("clientConfig", {}) for each in found.get("webhooks") or ()]
        what = f"ValidatingWebhookConfiguration/{name}"
        try:
            return await self._trusting(path, what, found, clients, bundle)
        except (Invalid, NotAllowed) as error:
            self._on_failure(seen, str(error))
            raise

    async def _convert(self, name: str, bundle: bytes) -> bool:
        """The same for a CRD whose versions a webhook converts; of others the metadata alone is read."""
        path = path_of("apiextensions.k8s.io", "v1", "customresourcedefinitions", name=name)
        what = f"CustomResourceDefinition/{name}"
        head = await self._read(path, what, accept=METADATA_ONLY)
        version = "" if head is None else str(member(head, "metadata").get("resourceVersion"))
        if head is None or self._unconverted.get(name) == version:
            return True
        answer = await self._api.read(path, doing=f"reading {what}")
        conversion = None if answer is None else answer.decode(_Crd).spec.conversion
        if answer is None or conversion is None or conversion.strategy != "Webhook":
            self._unconverted[name] = version
            return True
        found: Document = answer.decode(Document)
        client = found["spec"]["conversion"].setdefault("webhook", {}).setdefault("clientConfig", {})
        return await self._trusting(path, what, found, [client], bundle)

    async def _trusting(
        self, path: str, what: str, found: Document, clients: list[Document], bundle: bytes
    ) -> bool:
        """Write the bundle, and the Service unless there is a URL, where they differ."""
        differs = False
        for client in clients:
            before = dict(client)
            client["caBundle"] = b64encode(bundle).decode()
            if not client.get("url"):
                ours = {"namespace": self._service.namespace, "name": self._service.name}
                client["service"] = {**member(client, "service"), **ours}
            differs = differs or client != before
        if differs:
            await self._api.write("PUT", path, json_body(found), doing=f"writing {what}", params=_MANAGER)
            log.info("updated the caBundle that the API server trusts", object=what)
        return not differs

    async def _write(self, document: Document | None, newer: Certificates) -> Document:
        """The Secret with these certificates; what else it holds stays."""
        what = f"Secret/{self._secret.namespace}/{self._secret.name}"
        whole: Document = document or {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "Opaque",
            "metadata": {
                "name": self._secret.name,
                "namespace": self._secret.namespace,
                "labels": {COMPONENT: WEBHOOK},
            },
        }
        data = {name: value for name, value in member(whole, "data").items() if name not in _MEMBERS}
        marks = {**(member(whole, "metadata", "annotations"))}
        marks.pop(PUBLISHED, None)
        if newer.published is not None:
            marks[PUBLISHED] = datetime.fromtimestamp(newer.published, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        whole = {
            **whole,
            "data": {**data, **dict(_data_of(newer))},
            "metadata": {**whole["metadata"], "annotations": marks},
        }
        method, path = ("POST", self._path.rpartition("/")[0]) if document is None else ("PUT", self._path)
        answer = await self._api.write(
            method, path, json_body(whole), doing=f"writing {what}", params=_MANAGER
        )
        written: Document = answer.decode(Document)
        return written

    async def _read(self, path: str, what: str, accept: str = "application/json") -> Document | None:
        answer = await self._api.read(path, doing=f"reading {what}", accept=accept)
        if answer is None:
            return None
        found: Document = answer.decode(Document)
        return found

    @property
    def _path(self) -> str:
        return path_of("", "v1", "secrets", namespace=self._secret.namespace, name=self._secret.name)


_MANAGER: Final = {"fieldManager": "syncret"}
_MEMBERS: Final = (
    *("ca.crt", "ca.key", "tls.crt", "tls.key"),
    *("ca-next.crt", "ca-next.key", "ca-former.crt"),
)


class _Conversion(Struct):
    strategy: str = "None"


class _Spec(Struct):
    conversion: _Conversion | None = None


class _Crd(Struct):
    """The part of a CRD that is read here; the whole may have a megabyte."""

    spec: _Spec


def certificates_of(document: Document) -> Certificates:
    """The certificates in a Secret; empty ones for what cannot be read."""
    data = member(document, "data")
    ca, key, leaf, own, successor, theirs, former = (decoded(str(data.get(each) or "")) for each in _MEMBERS)
    published = member(document, "metadata", "annotations").get(PUBLISHED)
    return Certificates(
        authority=Pair(ca, key),
        leaf=Pair(leaf, own),
        successor=Pair(successor, theirs),
        published=seconds(str(published)) if published else None,
        former=former,
    )


def _data_of(held: Certificates) -> Iterator[tuple[str, str]]:
    values = (
        *(held.authority.certificate, held.authority.key, held.leaf.certificate, held.leaf.key),
        *(held.successor.certificate, held.successor.key, held.former),
    )
    for name, value in zip(_MEMBERS, values, strict=True):
        if value:
            yield name, b64encode(value).decode()
