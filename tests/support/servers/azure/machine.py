"""The metadata server of a machine at Azure, as far as tokens of managed identities go.

Written from https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
"""

from dataclasses import dataclass, field

from aiohttp import web

from tests.support.servers.azure.directory import HOUR, TENANT, Application, Directory

HEADER = "app-service-header-8e1b"


@dataclass
class Machine:
    """Which identities one machine has: by client ID, and by resource ID. Also an App Service's endpoint."""

    directory: Directory
    own: Application | None = None
    """The one that the system assigned."""
    others: dict[str, Application] = field(default_factory=dict[str, Application])
    """Those that users assigned, by resource ID."""
    objects: dict[str, Application] = field(default_factory=dict[str, Application])
    """The same by object ID."""
    left: int = HOUR - 1
    """Seconds that a token is still good for: the machine keeps tokens, and gives old ones."""
    asked: list[str] = field(default_factory=list[str])

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/metadata/identity/oauth2/token", self._imds),
            web.get("/msi/token", self._app_service),
        ]

    async def _imds(self, request: web.Request) -> web.Response:
        self.asked.append(request.query_string)
        if request.headers.get("Metadata") != "true" or "X-Forwarded-For" in request.headers:
            return _refused("Required metadata header not specified")
        if request.query.get("api-version") != "2018-02-01":
            return _refused("Bad api-version")
        ends = {"expires_in": str(self.left), "ext_expires_in": str(self.left)}
        return self._given(request, "msi_res_id", **ends)

    async def _app_service(self, request: web.Request) -> web.Response:
        if request.headers.get("X-IDENTITY-HEADER") != HEADER:
            return web.json_response({"statusCode": 401, "message": "Unauthorized"}, status=401)
        if request.query.get("api-version") != "2019-08-01":
            return _refused("Bad api-version")
        return self._given(request, "mi_res_id")

    def _given(self, request: web.Request, by_resource: str, **more: str) -> web.Response:
        client, path = request.query.get("client_id"), request.query.get(by_resource)
        named = {each.client_id: each for each in self.others.values()}
        found = named.get(client) if client else self.others.get(path) if path else self._default()
        if "object_id" in request.query:
            found = self.objects.get(request.query["object_id"])
        resource = request.query.get("resource", "")
        if found is None:
            return _refused("Identity not found")
        if resource.removesuffix("/") not in self.directory.resources:
            return _refused("The resource principal was not found.")
        now = int(self.directory.now())
        return web.json_response(
            {
                "access_token": self.directory.issue(found.client_id, TENANT, resource, self.left),
                "client_id": found.client_id,
                "expires_on": str(now + self.left),
                **more,
                "not_before": str(now),
                "resource": resource,
                "token_type": "Bearer",
            }
        )

    def _default(self) -> Application | None:
        """The system's own, or else the only one."""
        if self.own is None and len(self.others) == 1:
            return next(iter(self.others.values()))
        return self.own


def _refused(told: str) -> web.Response:
    return web.json_response({"error": "invalid_request", "error_description": told}, status=400)
