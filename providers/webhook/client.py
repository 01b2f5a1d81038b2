"""The client of a webhook store, whose requests are templates of its spec."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from syncret.providers.contract import OpenContext, Readiness
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.batching import SingleReads
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.webhook import results
from syncret.providers.webhook.spec import WebhookSpec, depends_on_property
from syncret.providers.work import Work

if TYPE_CHECKING:  # validation, and listing providers, must not import the HTTP stack
    from syncret.providers.webhook.requests import Api

NOT_FOUND: Final = 404


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """The body of a response."""

    body: bytes = field(repr=False)


class WebhookClient(SingleReads[WebhookResponse]):
    """Reads, pushes, deletes and looks up entries, each with one request."""

    def __init__(self, spec: WebhookSpec, context: OpenContext, api: "Api") -> None:
        self._spec = spec
        self._namespace = context.scope.namespace
        self._api = api
        self._by_property = depends_on_property(spec)

    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """Refs of one key share a request, unless its templates contain the property."""
        property_name = ref.property if self._by_property else ""
        return RemoteKey(ref.key, ref.version, ref.metadata, property_name)

    def value(self, payload: WebhookResponse, ref: RemoteRef, work: Work) -> SecretBytes | None:
        with _about(ref):
            return SecretBytes(results.one(payload.body, self._path(ref, work), work))

    def fields(self, payload: WebhookResponse, ref: RemoteRef, work: Work) -> SecretMap | None:
        with _about(ref):
            return results.members(payload.body, self._path(ref, work), work)

    async def push(self, item: PushItem) -> None:
        """Always sends a request: the existing value cannot be read and compared."""
        if not item.remote_key:
            raise Malformed("remote key must be defined", hint="write match.remoteRef.remoteKey")
        data = {"remoteKey": item.remote_key}
        if item.secret_key:
            data["secretKey"] = item.secret_key
        data[item.remote_key] = item.value.raw.decode("utf-8", "surrogateescape")
        body = self._spec.body or item.value.raw
        doing = f"pushing key {item.remote_key}"
        await self._api.send(self._spec.method or "POST", data, doing=doing, body=body)

    async def delete(self, target: RemoteTarget) -> None:
        data = {"remoteKey": target.remote_key}
        doing = f"deleting key {target.remote_key}"
        await self._api.send("DELETE", data, doing=doing, accept=(NOT_FOUND,))

    async def exists(self, target: RemoteTarget) -> bool:
        return await self.read_current(target.remote_key) is not None

    async def probe(self) -> Readiness:
        """Check whether the server accepts connections; requests need a key."""
        return await self._api.reachable()

    async def fetch_one(self, key: RemoteKey) -> WebhookResponse | None:
        answer = await self._api.send(
            self._spec.method or "GET",
            self._template_data(key.key, key.version, key.property),
            doing=f"reading key {key.key}",
            body=self._spec.body,
            accept=(NOT_FOUND,),
        )
        return None if answer.status == NOT_FOUND else WebhookResponse(answer.body)

    def _path(self, ref: RemoteRef, work: Work) -> str:
        data = self._api.data(self._template_data(ref.key, ref.version, ref.property))
        return self._api.path(data, work)

    def _template_data(self, key: str, version: str, name: str) -> dict[str, str]:
        return {"key": key, "version": version, "property": name, "namespace": self._namespace}


@contextmanager
def _about(ref: RemoteRef) -> Generator[None, None, None]:
    """Adds the property to an error's message."""
    try:
        yield
    except SyncError as error:
        raise (error.within(f'property "{ref.property}"') if ref.property else error) from None
