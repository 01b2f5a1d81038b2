"""A secret manager without measure: lists and bodies without an end, or merely very long ones.

One address speaks the APIs of all providers; it believes every credential. Entries are made up as they are
asked for, so that sixty thousand cost no more than one. As a process of its own:

    python -m tests.support.servers.endless    # prints its address; POST /mode sets `body`
"""

import asyncio
import gzip
import json
import math
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web

from tests.support.jwts import pem, private_key
from tests.support.served import Handler, all_to, served

PAGE: Final = 1000
"""Entries of a page, whatever size was asked for."""

GROUP: Final = "tests.syncret.dev"
CIRCLE: Final = 3
"""Pages of a list that leads back to its beginning."""

LOGIN: Final = "login"
"""The Secret with the credentials of all stores."""


def _selected(key: str) -> dict[str, str]:
    return {"name": LOGIN, "key": key}


_AWS: Final = {
    "region": "eu-west-1",
    "auth": {
        "secretRef": {"accessKeyIDSecretRef": _selected("key"), "secretAccessKeySecretRef": _selected("key")}
    },
}


def stores(url: str) -> dict[str, Mapping[str, Any]]:
    """`spec.provider` of a store for each API."""
    kube = {"server": {"url": url}, "auth": {"token": {"bearerToken": _selected("key")}}}
    vault = {"server": url, "path": "kv", "auth": {"tokenSecretRef": _selected("key")}}
    application = {"clientId": _selected("key"), "clientSecret": _selected("key")}
    azure = {"vaultUrl": url, "tenantId": "tenant", "authSecretRef": application}
    google = {"secretRef": {"secretAccessKeySecretRef": _selected("google")}}
    resource = {"group": GROUP, "version": "v1", "kind": "Thing"}
    ibm = {"secretRef": {"secretApiKeySecretRef": _selected("key"), "iamEndpoint": url}}
    return {
        "secrets-manager": {"aws": {"service": "SecretsManager", **_AWS}},
        "parameter-store": {"aws": {"service": "ParameterStore", **_AWS}},
        "azurekv": {"azurekv": azure},
        "gcpsm": {"gcpsm": {"projectID": "acme", "auth": google}},
        "kubernetes": {"kubernetes": {"remoteNamespace": "default", **kube}},
        "crd": {"crd": {"resource": resource, **kube}},
        "vault": {"vault": vault},
        "openbao": {"openBao": vault},
        "ibm": {"ibm": {"serviceUrl": url, "auth": ibm}},
        "webhook": {
            "webhook": {"url": url + "/webhook/{{ .remoteRef.key }}", "result": {"jsonPath": "$.value"}}
        },
    }


def environment(url: str) -> dict[str, str]:
    """What tells a process that the clouds are here."""
    return {
        "AWS_SECRETSMANAGER_ENDPOINT": url,
        "AWS_SSM_ENDPOINT": url,
        "AZURE_AUTHORITY_HOST": url,
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER": url,
    }


def credentials(url: str) -> dict[str, str]:
    """What the Secret holds."""
    key = {"client_email": "a@acme.iam.gserviceaccount.com", "private_key": pem(private_key("key-1"))}
    return {
        "key": "any",
        "google": json.dumps({"type": "service_account", "token_uri": f"{url}/token", **key}),
    }


BODIES: Final = ("small", "pages", "full", "large", "parts", "chunked", "declared", "slow", "packed")
FULL: Final = "dmFsdWVz" * (2**17 - 64)
LARGE: Final = "dmFsdWVz" * (2**20 - 2048)
PARTS: Final = b'{"data":' + b"[{}," * 1 + b"{}," * (2**23 // 3 - 2048) + b"{}]}"
BOMB: Final = gzip.compress(bytes(2**24)) * 64

_LOGIN: Final = {"access_token": "a-token", "expires_in": 3600, "token_type": "Bearer"}


@dataclass
class Endless:
    """The manager. `calls` counts what it was asked, logins included."""

    pages: float = math.inf
    """How many pages its list has. Vault has no pages but folders within each other."""
    circle: bool = False
    """Whether the tokens of pages repeat."""
    page: int = PAGE
    body: str = "small"
    """What responses are like that are no logins: one of BODIES."""
    value: str = "dmFsdWVz"
    """Of each entry; base64, as some APIs ask for."""
    calls: int = 0
    url: str = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.calls += 1
        if request.path == "/mode":
            self.body = await request.text()
            self.pages, self.page = math.inf, PAGE
            return web.Response()
        if self.body == "small" or request.path.endswith("/token"):
            return web.json_response(await self.answer(request))
        answer: Handler = getattr(self, f"_{self.body}")
        return await answer(request)

    async def _pages(self, request: web.Request) -> web.StreamResponse:
        """Full pages, as ever."""
        return web.json_response(await self.answer(request))

    async def _full(self, request: web.Request) -> web.StreamResponse:
        """As large as a Secret may be, and correct."""
        return await self._with(FULL, request)

    async def _large(self, request: web.Request) -> web.StreamResponse:
        """As large as a response may be, and correct."""
        return await self._with(LARGE, request)

    async def _with(self, value: str, request: web.Request) -> web.StreamResponse:
        small, self.value = self.value, value
        try:
            return web.Response(body=json.dumps(await self.answer(request)).encode())
        finally:
            self.value = small

    async def _parts(self, request: web.Request) -> web.StreamResponse:
        """As large as a response may be; parsed, it is many times larger."""
        del request
        return web.Response(body=PARTS, content_type="application/json")

    async def _chunked(self, request: web.Request) -> web.StreamResponse:
        """A body without an end."""
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" " * 65536)

    async def _declared(self, request: web.Request) -> web.StreamResponse:
        """A body that says that it is far too large."""
        response = web.StreamResponse(headers={"Content-Length": str(200 * 2**20)})
        await response.prepare(request)
        while True:
            await response.write(b" " * 65536)

    async def _slow(self, request: web.Request) -> web.StreamResponse:
        """Most of a large body, and then nothing."""
        response = web.StreamResponse(headers={"Content-Length": str(len(LARGE))})
        await response.prepare(request)
        await response.write(LARGE[: -(2**16)].encode())
        await asyncio.sleep(3600)
        return response

    async def _packed(self, request: web.Request) -> web.StreamResponse:
        """A small body that is a gigabyte when it is unpacked."""
        del request
        return web.Response(body=BOMB, headers={"Content-Encoding": "gzip"})

    async def answer(self, request: web.Request) -> Mapping[str, Any]:
        """What it says to one request."""
        path, target = request.path, request.headers.get("X-Amz-Target", "")
        if target:
            return self._aws(target.rpartition(".")[2], await request.json())
        if path.endswith("/token"):
            return _LOGIN
        if path.startswith("/secrets"):
            return self._azure(request)
        if path.startswith("/v1/projects/"):
            return self._google(request)
        if path.startswith("/api/v2/secrets/"):
            return {"secret_type": "arbitrary", "payload": self.value}
        if path.startswith("/api"):
            return self._kubernetes(request)
        if path.startswith("/webhook/"):
            return {"value": self.value}
        return self._vault(request)

    def _names(self, page: int) -> list[str]:
        """The entries of a page; the last one of the whole list is the one that is wanted."""
        if page >= self.pages:
            return []
        names = [f"entry-{page}-{number}" for number in range(self.page)]
        if page == self.pages - 1:
            names[-1] = "wanted"
        return names

    def _next(self, page: int) -> str:
        """The token of the page after this one; empty for the last."""
        if self.circle:
            return str((page + 1) % CIRCLE + CIRCLE)
        return str(page + 1) if page + 1 < self.pages else ""

    def _aws(self, operation: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        page = int(asked.get("NextToken") or 0)
        token = self._next(page)
        more = {"NextToken": token} if token else {}
        match operation:
            case "ListSecrets":
                return {"SecretList": [{"Name": name} for name in self._names(page)], **more}
            case "BatchGetSecretValue":
                values = [{"Name": name, "SecretString": self.value} for name in asked["SecretIdList"]]
                return {"SecretValues": values}
            case "GetSecretValue":
                return {"Name": asked["SecretId"], "SecretString": self.value}
            case "GetParametersByPath" | "DescribeParameters":
                found = [{"Name": name, "Value": self.value} for name in self._names(page)]
                return {"Parameters": found, **more}
            case "GetParameter":
                return {"Parameter": {"Name": asked["Name"], "Value": self.value}}
            case _:
                return {"Parameters": [{"Name": name, "Value": self.value} for name in asked["Names"]]}

    def _azure(self, request: web.Request) -> Mapping[str, Any]:
        name = request.path.removeprefix("/secrets").strip("/")
        if name:
            return {"id": f"{self.url}/secrets/{name}/1", "value": self.value}
        page = int(request.query.get("$skiptoken") or 0)
        found = [
            {"id": f"{self.url}/secrets/{name}", "attributes": {"enabled": True}}
            for name in self._names(page)
        ]
        token = self._next(page)
        return {
            "value": found,
            "nextLink": f"{self.url}/secrets?api-version=7.4&$skiptoken={token}" if token else None,
        }

    def _google(self, request: web.Request) -> Mapping[str, Any]:
        if not request.path.endswith("/secrets"):
            return {"payload": {"data": self.value}}
        page = int(request.query.get("pageToken") or 0)
        found = [{"name": f"projects/1/secrets/{name}"} for name in self._names(page)]
        return {"secrets": found, "nextPageToken": self._next(page)}

    def _kubernetes(self, request: web.Request) -> Mapping[str, Any]:
        if "/authorization.k8s.io/" in request.path:
            return {"status": {"allowed": True}}
        if request.path.endswith(f"/{GROUP}/v1"):
            return {"resources": [{"kind": "Thing", "name": "things", "namespaced": True}]}
        if not request.path.endswith(("/secrets", "/things")):
            return {"metadata": {"name": request.path.rpartition("/")[2]}, "data": {"a": self.value}}
        page = int(request.query.get("continue") or 0)
        found = [{"metadata": {"name": name}, "data": {"a": self.value}} for name in self._names(page)]
        return {"metadata": {"continue": self._next(page)}, "items": found}

    def _vault(self, request: web.Request) -> Mapping[str, Any]:
        if "/sys/mounts/" in request.path:
            return {"data": {"type": "kv", "options": {"version": "2"}}}
        if "list" not in request.query:
            return {"data": {"data": {"a": self.value}, "metadata": {"version": 1}}}
        depth = request.path.count("folder")
        names = self._names(depth)
        wide = [f"folder-{number}/" for number in range(self.page)] if math.isinf(self.pages) else []
        deeper = ["folder/"] if depth + 1 < self.pages else []
        return {"data": {"keys": names + (wide or deeper)}}


@asynccontextmanager
async def endless(**how: Any) -> AsyncGenerator[Endless, None]:  # noqa: ANN401  # fields of Endless
    """A running one."""
    manager = Endless(**how)
    async with served(all_to(manager.handle)) as manager.url:
        yield manager


async def _main() -> None:
    async with endless(pages=1, page=1) as manager:
        sys.stdout.write(f"{manager.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main())
