from typing import Any

from aiobotocore.credentials import AioCredentials

class AioSession:
    user_agent_name: str
    user_agent_version: str
    def get_component(self, name: str) -> Any: ...
    def register_component(self, name: str, component: object) -> None: ...
    async def get_credentials(self) -> AioCredentials | None: ...
