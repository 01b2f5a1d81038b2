from typing import Any

from aiobotocore.awsrequest import AioAWSResponse
from aiohttp import TCPConnector

class AIOHTTPSession:
    _verify: bool | str
    _cert_file: str | None
    _max_pool_connections: int
    _connector_args: dict[str, Any]
    async def send(self, request: Any) -> AioAWSResponse: ...
    def _create_connector(self, proxy_url: str | None) -> TCPConnector: ...
