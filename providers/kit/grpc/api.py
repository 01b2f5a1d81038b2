"""Calls of the methods of one API, as one identity."""

from syncret.providers.kit.grpc.channel import Channel
from syncret.providers.kit.grpc.messages import Message
from syncret.providers.kit.grpc.methods import Method
from syncret.providers.kit.grpc.statuses import NotFound
from syncret.providers.kit.http import Answer
from syncret.providers.kit.rest.api import Waiting
from syncret.providers.kit.rest.identities import Headers, Identity


class GrpcApi:
    """The API of one store. Every call carries the identity, and is made again if that was renewed for it."""

    def __init__(self, channel: Channel, identity: Identity) -> None:
        self._channel = channel
        self._identity = identity

    async def call(self, method: Method, request: bytes, **names: str) -> Message:
        """The answer. Raises SyncError; NotFound if the manager says that there is no such entry."""
        path, doing = f"/{method.service}/{method.name}", method.doing.format_map(names)

        async def send(headers: Headers) -> Answer:
            return await self._channel.call(path, request, headers, doing=doing, grant=method.grant)

        answer = await self._identity.send(Waiting("POST", path, request, {}, send))
        return Message(answer.body, doing)

    async def look_up(self, method: Method, request: bytes, **names: str) -> Message | None:
        """The answer; None if the manager says that there is no such entry. Raises SyncError."""
        try:
            return await self.call(method, request, **names)
        except NotFound:
            return None

    async def check_login(self) -> None:
        """Log in if needed. Raises SyncError if that fails."""
        await self._identity.check()

    def __repr__(self) -> str:
        return f"<GrpcApi {self._channel.server}>"
