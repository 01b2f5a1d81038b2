"""What the clients of REST APIs of all vendors have in common."""

from syncret.providers.contract import Compute
from syncret.providers.kit.rest.api import Api


class ApiClient:
    """Calls the API of one store."""

    def __init__(self, api: Api) -> None:
        self._api = api


class ComputingClient(ApiClient):
    """Calls the API of one store, and computes with what it sends or gets."""

    def __init__(self, api: Api, compute: Compute) -> None:
        super().__init__(api)
        self._compute = compute
