"""As much of an API server as commands need that ask it with a kubeconfig; what was written is remembered."""

import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

from aiohttp import web

from syncret.config.meta import Document, is_object, member, ref_of
from syncret.config.resources.kinds import KINDS, Kind
from syncret.daemon.homes.memory.requests import merged
from tests.support.served import all_to, served
from tests.support.servers.kube.crds import collection


class Written(NamedTuple):
    """A request that would change something."""

    method: str
    path: str
    is_dry: bool
    body: Document


class SmallApi:
    """Objects by their path. Rights are verbs and plurals: `list secretstores`."""

    def __init__(self, *documents: Document, others: Iterable[Kind] = ()) -> None:
        """`others`: kinds of other operators that are served, too."""
        self._kinds = (*KINDS, *others)
        self.objects: dict[str, Document] = {}
        self.denied: set[str] = set()
        self.refused: dict[str, str] = {}
        """Names that an admission webhook refuses, and why."""
        self.written: list[Written] = []
        self.events: list[Document] = []
        for document in documents:
            self.add(document)

    def add(self, document: Document) -> None:
        """Let the object exist."""
        metadata: Document = {"uid": "u", "resourceVersion": "5", "generation": 1, **document["metadata"]}
        self.objects[self._path(document)] = {**document, "metadata": metadata}

    def _path(self, document: Document) -> str:
        ref = ref_of(document)
        kind = next(each for each in self._kinds if each.group_kind == ref.group_kind)
        return f"{collection(kind, ref.namespace)}/{ref.name}"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        for kind in self._kinds:
            if path == f"/apis/{kind.group}":
                version = {"groupVersion": kind.api_version, "version": kind.versions[0]}
                return web.json_response({"preferredVersion": version, "versions": [version]})
        for group_version, kinds in _served(self._kinds).items():
            if path == group_version:
                return web.json_response({"resources": [*_listed(kinds)]})
            if path.startswith(f"{group_version}/"):
                return await self._resource(request, path.removeprefix(f"{group_version}/").split("/"))
        return _status(404, "NotFound", "no such path")

    async def _resource(self, request: web.Request, words: list[str]) -> web.StreamResponse:
        if words[0] == "namespaces" and len(words) > 2:
            words = words[2:]
        plural, name = words[0], "/".join(words[1:])
        verb = {"GET": "get" if name else "list", "POST": "create", "PATCH": "patch"}[request.method]
        if f"{verb} {plural}" in self.denied:
            return _status(403, "Forbidden", f'{plural} is forbidden: User "jane" cannot {verb} resource')
        if request.method == "GET":
            return self._read(request, name)
        return await self._write(request, name)

    def _read(self, request: web.Request, name: str) -> web.StreamResponse:
        if name:
            found = self.objects.get(request.path)
            return _status(404, "NotFound", "not found") if found is None else web.json_response(found)
        if request.path.endswith("/events"):
            return web.json_response({"items": self.events})
        root, _, plural = request.path.rpartition("/")
        collections = {path: path.rpartition("/")[0] for path in self.objects}
        items = [
            self.objects[path]
            for path, collected in collections.items()
            if path.startswith(f"{root}/") and collected.endswith(f"/{plural}")
        ]
        return web.json_response({"items": items, "metadata": {}})

    async def _write(self, request: web.Request, name: str) -> web.StreamResponse:
        body = json.loads(await request.text())
        is_dry = request.query.get("dryRun") == "All"
        self.written.append(Written(request.method, request.path, is_dry, body))
        path = request.path if name else f"{request.path}/{body['metadata']['name']}"
        refusal = self.refused.get(path.rpartition("/")[2])
        if refusal is not None:
            return _status(403, "Forbidden", f'admission webhook "w" denied the request: {refusal}')
        made = merged(deepcopy(self.objects.get(path, {})), body)
        made["metadata"] = {"uid": f"uid-{len(self.written)}", "generation": 1, **made["metadata"]}
        if not is_dry:
            self.objects[path] = made
        return web.json_response(made)

    @asynccontextmanager
    async def kubeconfig(self, folder: Path, namespace: str = "shop") -> AsyncGenerator[str]:
        """The path of a kubeconfig, while the server runs."""
        async with served(all_to(self.answer)) as url:
            context = {"cluster": "c", "user": "u", "namespace": namespace}
            document: Document = {
                "current-context": "c",
                "contexts": [{"name": "c", "context": context}],
                "clusters": [{"name": "c", "cluster": {"server": url}}],
                "users": [{"name": "u", "user": {}}],
            }
            path = folder / "kubeconfig"
            path.write_text(json.dumps(document))
            yield str(path)


def event(about: Document, message: str, *, reason: str = "UpdateFailed", kind: str = "Warning") -> Document:
    """An event of that object."""
    ref = ref_of(about)
    involved = {"apiVersion": about["apiVersion"], "kind": ref.kind, "namespace": ref.namespace}
    at = "2026-01-01T00:00:01Z"
    return {
        "involvedObject": {**involved, "name": ref.name},
        "type": kind,
        "reason": reason,
        "message": message,
        "lastTimestamp": at,
        "count": 3,
    }


def with_condition(document: Document, message: str, *, status: str = "False") -> Document:
    """The object as its controller left it."""
    at = "2026-01-01T00:00:00Z"
    condition = {"type": "Ready", "status": status, "message": message, "lastTransitionTime": at}
    assert is_object(document)
    return {**document, "status": {**member(document, "status"), "conditions": [condition]}}


def _served(all_kinds: Iterable[Kind]) -> dict[str, list[Kind]]:
    found: dict[str, list[Kind]] = {}
    for kind in all_kinds:
        for version in kind.versions[:1]:
            root = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
            found.setdefault(root, []).append(kind)
    return found


def _listed(kinds: Iterable[Kind]) -> Iterable[Document]:
    for kind in kinds:
        yield {"name": kind.plural, "kind": kind.kind, "namespaced": kind.namespaced}
    if any(not kind.group for kind in kinds):
        for name in ("Event", "Pod"):
            yield {"name": f"{name.lower()}s", "kind": name, "namespaced": True}


def _status(code: int, reason: str, message: str) -> web.Response:
    body = {"kind": "Status", "reason": reason, "message": message, "code": code}
    return web.json_response(body, status=code)
