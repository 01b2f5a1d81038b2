"""Azure Resource Manager, as far as the secret APIs of resources go.

Written from https://learn.microsoft.com/rest/api/azure, and for the limits from
https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling; what each
service answers is in `secret_actions`.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from aiohttp import web

from tests.support.faults import Refusal
from tests.support.servers.azure.directory import MANAGEMENT, TENANT, Directory
from tests.support.servers.azure.secret_actions import ACTIONS, ROOT_RULES, Action

SUBSCRIPTION: Final = "0f9a3b52-7c11-4e0e-8d5a-1b2c3d4e5f60"
GROUP: Final = "shop"
_PER_PAGE: Final = 2


class ManagementError(Refusal):
    """One call failed, in the manager's words."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}
        super().__init__(message)

    def response(self) -> web.Response:
        error = {"error": {"code": self.code, "message": self.message}}
        return web.json_response(error, status=self.status, headers=self.headers)


class Management:
    """Resources of all subscriptions, and the secrets of each."""

    def __init__(self, directory: Directory) -> None:
        self.members: set[str] = set()
        """The client IDs of those who may call every API."""
        self.resources: set[str] = set()
        """The IDs, in lower case."""
        self.generations: Counter[str] = Counter()
        """How often the secrets of a resource were regenerated."""
        self.calls: list[str] = []
        """What was asked, as `listKeys shop`; tests count these."""
        self.clients: list[str] = []
        """Who asked, by client ID, in the order of `calls`."""
        self.remaining = 11999
        """Calls that the subscription has left."""
        self.retry_after = 17
        self.throttled = 0
        """Calls that were refused because none were left."""
        self._directory = directory

    def add(self, path: str, subscription: str = SUBSCRIPTION) -> str:
        """A resource, by namespace, types and names: `Microsoft.Storage/storageAccounts/shop`. Its ID."""
        made = f"/subscriptions/{subscription}/resourceGroups/{GROUP}/providers/{path}"
        self.resources.add(made.lower())
        return made

    def secret(self, resource: str, name: str) -> str:
        """The value that a resource has by that name."""
        return f"{name} of {resource.rpartition('/')[2]}, {self.generations[resource.lower()]}"

    def regenerate(self, resource: str) -> None:
        """All secrets of the resource are others from now on."""
        self.generations[resource.lower()] += 1

    def routes(self) -> list[web.RouteDef]:
        path = "/subscriptions/{subscription}/{groups:resource[gG]roups}/{group}/providers/{rest:.*}"
        return [web.route("*", path, self._answer)]

    async def _answer(self, request: web.Request) -> web.Response:
        client = self._client(request)
        names = request.match_info
        action = _action(names["rest"])
        self._check_version(request, action)
        resource = f"{request.path.rpartition('/')[0]}"
        self._check_rights(client, resource, names["rest"])
        self._check_resource(resource, names)
        self._count(request, client)
        shown = action.answer(lambda name: self.secret(_without_rule(resource), name))
        if action.paged:
            shown = self._page(request, shown)
        headers = {
            "x-ms-ratelimit-remaining-subscription-resource-requests": str(self.remaining),
            "x-ms-request-id": str(uuid4()),
            "x-ms-correlation-request-id": str(uuid4()),
            "Cache-Control": "no-cache",
        }
        return web.json_response(shown, headers=headers)

    def _client(self, request: web.Request) -> str:
        """Whose token it is. Tokens are for the manager, and of the subscription's own tenant."""
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        url = f'Bearer authorization_uri="https://login.windows.net/{TENANT}", error="invalid_token"'
        challenge = {"WWW-Authenticate": url}
        token = self._directory.tokens.get(text)
        if scheme != "Bearer" or not text:
            raise ManagementError(
                401,
                "AuthenticationFailed",
                "Authentication failed. The 'Authorization' header is missing.",
                challenge,
            )
        if token is None or token.audience != MANAGEMENT:
            raise ManagementError(
                401, "InvalidAuthenticationToken", "The access token is invalid.", challenge
            )
        if token.expires <= self._directory.now():
            raise ManagementError(
                401, "ExpiredAuthenticationToken", "The access token expiry time is in the past.", challenge
            )
        if token.tenant != TENANT:
            message = f"The access token is from the wrong issuer. It must match the tenant '{TENANT}'."
            raise ManagementError(401, "InvalidAuthenticationTokenTenant", message, challenge)
        return token.client

    def _check_version(self, request: web.Request, action: Action) -> None:
        version = request.query.get("api-version")
        if not version:
            raise ManagementError(
                400,
                "MissingApiVersionParameter",
                "The api-version query parameter (?api-version=) is required for all requests.",
            )
        if version not in action.versions:
            message = f"No registered resource provider found for API version '{version}'."
            raise ManagementError(400, "NoRegisteredProviderFound", message)
        if request.method != "POST" and "$skiptoken" not in request.query:
            raise ManagementError(405, "MethodNotAllowed", "The requested resource does not support GET.")

    def _check_rights(self, client: str, resource: str, rest: str) -> None:
        if client not in self.members:
            message = (
                f"The client '{client}' does not have authorization to perform action "
                f"'{rest}/action' over scope '{resource}' or the scope is invalid."
            )
            raise ManagementError(403, "AuthorizationFailed", message)

    def _check_resource(self, resource: str, names: Mapping[str, str]) -> None:
        group = f"/subscriptions/{names['subscription']}/resourcegroups/{names['group']}/".lower()
        if not any(each.startswith(group) for each in self.resources):
            message = f"Resource group '{names['group']}' could not be found."
            raise ManagementError(404, "ResourceGroupNotFound", message)
        if _without_rule(resource).lower() not in self.resources:
            message = f"The Resource '{names['rest'].rpartition('/')[0]}' was not found."
            raise ManagementError(404, "ResourceNotFound", message)

    def _count(self, request: web.Request, client: str) -> None:
        if self.remaining <= 0:
            self.throttled += 1
            raise ManagementError(
                429,
                "SubscriptionRequestsThrottled",
                "Number of requests for subscription and operation group exceeds the backend limit.",
                {"Retry-After": str(self.retry_after)},
            )
        self.remaining -= 1
        parts = request.path.split("/")
        self.calls.append(f"{parts[-1]} {parts[-2]}")
        self.clients.append(client)

    def _page(self, request: web.Request, shown: dict[str, Any]) -> dict[str, Any]:
        begin = int(request.query.get("$skiptoken", "0"))
        page: dict[str, Any] = {"value": shown["value"][begin : begin + _PER_PAGE], "nextLink": None}
        if begin + _PER_PAGE < len(shown["value"]):
            query = {"api-version": request.query["api-version"], "$skiptoken": str(begin + _PER_PAGE)}
            page["nextLink"] = str(request.url.with_query(query))
        return page


def _action(rest: str) -> Action:
    asked = rest.lower().split("/")
    for action in ACTIONS:
        parts = action.path.lower().split("/")
        if len(parts) == len(asked) and all(
            part in {"*", each} for part, each in zip(parts, asked, strict=True)
        ):
            return action
    message = f"The resource type could not be found in the namespace '{rest.partition('/')[0]}'."
    raise ManagementError(404, "InvalidResourceType", message)


def _without_rule(resource: str) -> str:
    """The resource that a rule belongs to which it has from the start; any other is a resource of its own."""
    before, _, rule = resource.rpartition("/")
    return before.rpartition("/")[0] if rule.lower() in ROOT_RULES else resource
