"""What syncret uses of aioboto3, which ships no types."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from aiobotocore.config import AioConfig
from aiobotocore.session import AioSession

class Session:
    def __init__(self, *, botocore_session: AioSession) -> None: ...
    def client(
        self, service_name: str, *, region_name: str, endpoint_url: str | None = None, config: AioConfig
    ) -> AbstractAsyncContextManager[Any]: ...
