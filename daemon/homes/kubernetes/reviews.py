"""Checks who owns a token, and what the owner may read, by TokenReview and SubjectAccessReview."""

import asyncio
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from msgspec import Struct, field

from syncret.config.fields import Json
from syncret.daemon.core.reviews import Verdict
from syncret.daemon.homes.kubernetes.api import ApiServer
from syncret.providers.kit.http import Answer, json_body
from syncret.providers.kit.kube.client import path_of
from syncret.providers.values import SecretBytes

KEPT_FOR: Final = 60.0
"""Seconds for which an answer is cached."""

MOST_KEPT: Final = 256
AT_ONCE: Final = 2
"""Reviews under way at once, so that requests with wrong tokens do not load the API server."""


class _User(Struct):
    username: str = ""
    uid: str = ""
    groups: list[str] = field(default_factory=list[str])
    extra: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


class _TokenStatus(Struct):
    authenticated: bool = False
    user: _User = field(default_factory=_User)


class _TokenReview(Struct):
    status: _TokenStatus = field(default_factory=_TokenStatus)


class _AccessStatus(Struct):
    allowed: bool = False


class _AccessReview(Struct):
    status: _AccessStatus = field(default_factory=_AccessStatus)


class TokenReviews:
    """Reviews who may read a path of ours. Implements `Reviews`."""

    def __init__(self, api: ApiServer) -> None:
        self._api = api
        self._known: dict[bytes, tuple[Verdict, float]] = {}
        """By a digest of token and path."""
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def check(self, token: SecretBytes, path: str) -> Verdict:
        """Whether the owner of the token may get the path. Raises HomeError."""
        key = sha256(token.raw + b"\0" + path.encode()).digest()
        async with self._turns:
            now = asyncio.get_running_loop().time()
            known = self._known.pop(key, None)
            if known is None or known[1] < now:
                known = await self._ask(token, path), now + KEPT_FOR
            self._known[key] = known
            if len(self._known) > MOST_KEPT:
                del self._known[next(iter(self._known))]
            return known[0]

    async def _ask(self, token: SecretBytes, path: str) -> Verdict:
        answer = await self._review(
            "authentication.k8s.io", "TokenReview", {"token": token.raw.decode("ascii", "replace")}
        )
        found = answer.decode(_TokenReview).status
        if not found.authenticated:
            return Verdict.UNKNOWN
        user = found.user
        spec: dict[str, Json] = {
            "user": user.username,
            "uid": user.uid,
            "groups": list(user.groups),
            "extra": dict(user.extra),
            "nonResourceAttributes": {"path": path, "verb": "get"},
        }
        answer = await self._review("authorization.k8s.io", "SubjectAccessReview", spec)
        return Verdict.ALLOWED if answer.decode(_AccessReview).status.allowed else Verdict.DENIED

    async def _review(self, group: str, kind: str, spec: Mapping[str, Json]) -> Answer:
        body = json_body({"apiVersion": f"{group}/v1", "kind": kind, "spec": dict(spec)})
        path = path_of(group, "v1", f"{kind.lower()}s")
        return await self._api.write("POST", path, body, doing="asking who may read the metrics")
