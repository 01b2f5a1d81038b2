"""What the clients of REST APIs of all vendors have in common."""

from syncret.providers.contract import Compute, Readiness
from syncret.providers.kit.rest.api import Api


class ApiClient:
    """Calls the API of one store."""

    converts_keys = False
    """As in the operator: few of its providers convert what a search finds."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def probe(self) -> Readiness:
        """Whether the login succeeds: all that can be checked where no call is free of secrets."""
        await self._api.check_login()
        return "ready"


class ComputingClient(ApiClient):
    """Calls the API of one store, and computes with what it sends or gets."""

    def __init__(self, api: Api, compute: Compute) -> None:
        super().__init__(api)
        self._compute = compute
