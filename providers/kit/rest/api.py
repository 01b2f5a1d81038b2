"""Calls of the endpoints of one API, as one identity."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TypeAlias, TypeVar

from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.kit.http import Answer, Body, Http, json_body, segments
from syncret.providers.kit.http.answers import Unauthenticated
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.identities import Headers, Identity

F = TypeVar("F")

Meaning: TypeAlias = Callable[[Answer, Endpoint], SyncError | None]
"""Makes the error of a refusal; None: the answer is not the vendor's."""


def _nothing_is_absent(_answer: Answer) -> bool:
    return False


def is_no_page(answer: Answer) -> bool:
    """Whether an answer is no web page: for vendors who do not publish their error for missing entries.

    It may come from the vendor or not, so it must not be taken as a deletion.
    """
    return b"<html" not in answer.body[:1024].lower()


def _any(_failure: object) -> bool:
    return True


def says(failure: type[F], what: Callable[[F], bool] = _any) -> Callable[[Answer], bool]:
    """Whether an answer is an error as the vendor writes them, and one that says this."""

    def is_said(answer: Answer) -> bool:
        found = answer.decode_if(failure)
        return found is not None and what(found)

    return is_said


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """The meaning of the statuses of one API, where it differs from the usual one."""

    vendor: str
    """Who speaks the API, for messages."""
    check: str
    """The hint if another server than the vendor's answers."""
    is_absent: Callable[[Answer], bool] = _nothing_is_absent
    """Whether a 404 says that the entry does not exist. Any proxy can answer 404, and whatever counts as
    deleted may be deleted here, too: it must be in the vendor's own words."""
    errors: Mapping[int, Meaning] = field(default_factory=dict[int, Meaning])
    """Errors of statuses with details of the vendor."""


def denied(answer: Answer, endpoint: Endpoint) -> Denied:
    """The meaning of 403 in most APIs: the identity lacks the right that the endpoint needs."""
    return Denied(f"{answer.doing}: permission denied", hint=endpoint.grant)


def means(error: type[SyncError], what: str, *, hint: str = "") -> Meaning:
    """A refusal that always means this."""
    return lambda answer, _endpoint: error(f"{answer.doing}: {what}", hint=hint)


def by_code(code_of: Callable[[Answer], str], codes: Mapping[str, Meaning], others: Meaning) -> Meaning:
    """A refusal whose meaning depends on the vendor's code for it."""
    return lambda answer, endpoint: codes.get(code_of(answer), others)(answer, endpoint)


def bad_signature(check: str) -> Meaning:
    """The meaning of 401 of an API whose requests are signed: a signature holds for minutes."""
    hint = f"check {check}, and whether the clock is right"
    return means(Unauthenticated, "HTTP 401 Unauthorized: the signature is refused", hint=hint)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that waits for the headers of an identity: `Send`."""

    method: str
    path: str
    content: bytes = field(repr=False)
    headers: Headers
    send: Callable[[Headers], Awaitable[Answer]] = field(repr=False)

    async def __call__(self, headers: Headers, /) -> Answer:
        return await self.send(headers)


class Api:
    """The API of one store. Every call carries the identity, and is made again if that was renewed for it."""

    def __init__(self, http: Http, identity: Identity, refusals: Refusals) -> None:
        self.http = http
        self._identity = identity
        self._refusals = refusals
        self._expected = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, *refusals.errors)

    async def call(
        self,
        endpoint: Endpoint,
        *,
        params: Mapping[str, str] | None = None,
        headers: Headers | None = None,
        body: object = None,
        accept: tuple[int, ...] = (),
        **names: str,
    ) -> Answer:
        """The answer. `names` are what stands in braces; a body that is no Body is sent as JSON.

        Raises SyncError.
        """
        answer = await self._answer(endpoint, params, headers, body, accept, names)
        if answer.status == HTTPStatus.NOT_FOUND:
            raise self._from_elsewhere(answer, endpoint)
        return answer

    async def look_up(
        self,
        endpoint: Endpoint,
        *,
        params: Mapping[str, str] | None = None,
        headers: Headers | None = None,
        body: object = None,
        accept: tuple[int, ...] = (),
        **names: str,
    ) -> Answer | None:
        """The answer; None if the manager itself says that there is no such entry. Raises SyncError."""
        answer = await self._answer(endpoint, params, headers, body, accept, names)
        if answer.status != HTTPStatus.NOT_FOUND:
            return answer
        if self._refusals.is_absent(answer):
            return None
        raise self._from_elsewhere(answer, endpoint)

    async def check_login(self) -> None:
        """Log in if needed. Raises SyncError if that fails."""
        await self._identity.check()

    async def _answer(
        self,
        endpoint: Endpoint,
        params: Mapping[str, str] | None,
        headers: Headers | None,
        body: object,
        accept: tuple[int, ...],
        names: Mapping[str, str],
    ) -> Answer:
        in_path = {name: segments(value) for name, value in names.items() if f"{{{name}}}" in endpoint.path}
        path = endpoint.path.format_map(in_path)
        doing = endpoint.doing.format_map(names)
        content = body if body is None or isinstance(body, Body) else json_body(body)

        async def send(identity: Headers) -> Answer:
            answer = await self.http.request(
                endpoint.method,
                path,
                doing=doing,
                params=params,
                headers={"Accept": "application/json", **identity, **(headers or {})},
                body=content,
                accept=(*self._expected, *accept),
            )
            if answer.status in self._refusals.errors:
                error = self._refusals.errors[answer.status](answer, endpoint)
                raise error or self._from_elsewhere(answer, endpoint)
            if answer.status == HTTPStatus.FORBIDDEN:
                raise denied(answer, endpoint)
            return answer

        sent = b"" if content is None else content.content
        waiting = Waiting(endpoint.method, path, sent, headers or {}, send)
        return await self._identity.send(waiting)  # which handles refusals, too

    def _from_elsewhere(self, answer: Answer, endpoint: Endpoint) -> Malformed:
        vendor, hint = self._refusals.vendor, endpoint.check or self._refusals.check
        return Malformed(f"{answer.doing}: HTTP {answer.status}, but not from {vendor}", hint=hint)

    def __repr__(self) -> str:
        return f"<Api {self.http.base}>"
