from typing import Any

class AioConfig:
    def __init__(
        self,
        *,
        connect_timeout: float,
        read_timeout: float,
        retries: dict[str, Any],
        max_pool_connections: int,
        http_session_cls: type[Any],
    ) -> None: ...
