"""A thin client of one Kubernetes API server."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Final, Protocol, TypeVar

import msgspec

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.providers.contract import IssuedToken, Paced
from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.kit.http import Answer, Body, Http, TooLarge, json_body, segments
from syncret.providers.kit.paging import Page, pages
from syncret.providers.values import SecretBytes

T = TypeVar("T")

PAGE: Final = 500
"""Objects of a page; fewer where a page of so many is too large."""

_SMALLER: Final = 8
"""How many times fewer objects a page has after one that was too large."""


class Login(Protocol):
    """Runs a request with authentication headers, and again with new ones if they are refused."""

    async def use(self, call: Callable[[Mapping[str, str]], Awaitable[Answer]]) -> Answer: ...


class _TokenStatus(msgspec.Struct):
    token: str
    expirationTimestamp: datetime  # noqa: N815  # as the API calls it


class _TokenRequest(msgspec.Struct):
    status: _TokenStatus


def path_of(group: str, version: str, plural: str, *, namespace: str = "", name: str = "") -> str:
    """The path of a collection or an object. Raises Malformed for a name that is no path segment."""
    root = f"apis/{segments(group)}" if group else "api"
    within = f"namespaces/{segments(namespace)}/" if namespace else ""
    path = f"/{root}/{segments(version)}/{within}{segments(plural)}"
    return f"{path}/{segments(name)}" if name else path


def _check_absence(answer: Answer) -> None:
    """Only a 404 with the API's own Status is absence: any web server returns 404."""
    problem = Malformed(
        f"{answer.doing}: HTTP 404, and not from a Kubernetes API",
        hint="does the URL lead to the API server, and does it have this resource?",
    )
    if not answer.body.startswith(b"{"):
        raise problem
    status = answer.decode(Document)
    if status.get("kind") != "Status" or status.get("reason") != "NotFound":
        raise problem


def _objects(found: Json) -> list[Document]:
    """The objects of a list in a response."""
    return [each for each in found if is_object(each)] if is_list(found) else []


def _object(document: Json, doing: str, *, named: bool = False) -> Document:
    """An object of a response, which has metadata, and a name. Raises Malformed."""
    metadata = document.get("metadata") if is_object(document) else None
    names = (metadata.get("name"), metadata.get("namespace", "")) if is_object(metadata) else (None,)
    if (
        not is_object(document)
        or not is_object(metadata)
        or (named and not all(isinstance(name, str) for name in names))
    ):
        raise Malformed(
            f"{doing}: an object of the answer has no {'name' if named else 'metadata'}",
            hint="does the URL lead to an API server?",
        )
    return document


def _listed(found: Json, doing: str) -> list[Document]:
    """The objects of a page; Go writes an empty one as null. Raises Malformed."""
    if not (found is None or is_list(found)):
        raise Malformed(f"{doing}: the answer is no list", hint="does the URL lead to an API server?")
    return [_object(each, doing, named=True) for each in found or ()]


class Kube:
    """An API server. `doing` begins every message, such as `reading Secret a/b`."""

    def __init__(self, http: Http, login: Login) -> None:
        self._http = http
        self._login = login

    async def get(self, path: str, *, doing: str) -> Document | None:
        """The object; None if there is none."""
        answer = await self._request("GET", path, doing=doing, accept=(HTTPStatus.NOT_FOUND,))
        if answer.status == HTTPStatus.NOT_FOUND:
            _check_absence(answer)
            return None
        return _object(answer.decode(Document), doing)

    def list(
        self, path: str, paced: Paced, *, doing: str, labels: str = ""
    ) -> AsyncGenerator[Document, None]:
        """All objects of a collection that match a label selector, page by page."""
        selector = {"labelSelector": labels} if labels else {}
        limit = PAGE

        async def page(token: str) -> Page[Document]:
            params = {"limit": str(limit), **selector, **({"continue": token} if token else {})}
            answer = await self._request("GET", path, doing=doing, params=params, accept=(HTTPStatus.GONE,))
            if answer.status == HTTPStatus.GONE:
                raise Unavailable(f"{doing}: the list changed too much while it was read")
            found = answer.decode(Document)
            metadata = found.get("metadata")
            more = metadata.get("continue") if is_object(metadata) else None
            return Page(_listed(found.get("items"), doing), str(more or ""))

        async def paced_by_size(request: Callable[[], Awaitable[T]], /, *, reads: int = 0) -> T:
            nonlocal limit
            while True:
                try:
                    return await paced(request, reads=reads)
                except TooLarge:
                    if limit == 1:
                        raise
                limit = max(1, limit // _SMALLER)

        return pages(page, paced_by_size, doing=doing)

    async def resources(self, group: str, version: str, *, doing: str) -> Sequence[Document]:
        """The resources of one version of a group; empty if the server does not have it."""
        path = f"/apis/{segments(group)}/{segments(version)}" if group else f"/api/{segments(version)}"
        answer = await self._request("GET", path, doing=doing, accept=(HTTPStatus.NOT_FOUND,))
        found: Document = {} if answer.status == HTTPStatus.NOT_FOUND else answer.decode(Document)
        return [each for each in _objects(found.get("resources")) if isinstance(each.get("name"), str)]

    async def create(self, path: str, document: Document, *, doing: str) -> Document:
        """The object as it was stored. Raises Unavailable if it was created meanwhile."""
        return await self._write("POST", path, document, doing=doing)

    async def update(self, path: str, document: Document, *, doing: str) -> Document:
        """The object as it was stored. Raises Unavailable if it was changed since it was read."""
        return await self._write("PUT", path, document, doing=doing)

    async def delete(self, path: str, *, doing: str) -> None:
        """Delete an object; a missing one is no error."""
        await self._request("DELETE", path, doing=doing, accept=(HTTPStatus.NOT_FOUND,))

    async def allowed(self, verb: str, plural: str, *, group: str = "", namespace: str = "") -> bool:
        """Whether we are allowed the verb, in a namespace or (empty) in all."""
        attributes = {"verb": verb, "resource": plural, "group": group, "namespace": namespace}
        review = await self._review("selfsubjectaccessreviews", {"resourceAttributes": attributes})
        return review.get("allowed") is True

    async def rules(self, namespace: str) -> Sequence[Document]:
        """Our rules in a namespace, as far as the server lists them."""
        review = await self._review("selfsubjectrulesreviews", {"namespace": namespace})
        return _objects(review.get("resourceRules"))

    async def token(
        self, namespace: str, account: str, *, audiences: Sequence[str], seconds: int
    ) -> IssuedToken:
        """A new token of a ServiceAccount."""
        path = f"{path_of('', 'v1', 'serviceaccounts', namespace=namespace, name=account)}/token"
        spec = {"audiences": list(audiences), "expirationSeconds": seconds}
        doing = f'requesting a token of ServiceAccount "{account}" of namespace "{namespace}"'
        body = json_body({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
        answer = await self._request("POST", path, doing=doing, body=body, accept=(HTTPStatus.NOT_FOUND,))
        if answer.status == HTTPStatus.NOT_FOUND:
            raise Malformed(f"{doing}: it does not exist", hint="create it, or correct the reference")
        status = answer.decode(_TokenRequest).status
        return IssuedToken(SecretBytes(status.token.encode()), status.expirationTimestamp.timestamp())

    async def _review(self, kind: str, spec: Mapping[str, object]) -> Document:
        path = path_of("authorization.k8s.io", "v1", kind)
        answer = await self._request(
            "POST", path, doing="asking what we may do", body=json_body({"spec": spec})
        )
        status = answer.decode(Document).get("status")
        return status if is_object(status) else {}

    async def _write(self, method: str, path: str, document: Document, *, doing: str) -> Document:
        answer = await self._request(
            method,
            path,
            doing=doing,
            body=json_body(document),
            accept=(HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND),
        )
        if answer.status == HTTPStatus.CONFLICT or (
            answer.status == HTTPStatus.NOT_FOUND and method == "PUT"
        ):
            raise Unavailable(f"{doing}: it changed meanwhile")
        if answer.status == HTTPStatus.NOT_FOUND:
            raise Malformed(
                f"{doing}: there is no such namespace", hint="create it, or correct remoteNamespace"
            )
        return answer.decode(Document)

    async def _request(
        self,
        method: str,
        path: str,
        *,
        doing: str,
        params: Mapping[str, str] | None = None,
        body: Body | None = None,
        accept: Sequence[int] = (),
    ) -> Answer:
        async def ask(headers: Mapping[str, str]) -> Answer:
            return await self._http.request(
                method, path, doing=doing, params=params, headers=headers, body=body, accept=accept
            )

        return await self._login.use(ask)

    def __repr__(self) -> str:
        return f"<Kube {self._http!r}>"
