"""Password Safe's API as far as it concerns secrets and managed accounts, from its published reference.

https://docs.beyondtrust.com/bips/docs/secrets-safe-apis, https://docs.beyondtrust.com/bips/docs/password-safe-apis
"""

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import parse_qs
from uuid import UUID

from aiohttp import web

from syncret.config.fields import Json
from tests.support.servers.rest import Refused, RestServer, body_of

BASE: Final = "/BeyondTrust/api/public/v3"
USER: Final = 7


class PasswordSafe(RestServer):
    """One registration and its sessions; the folder `shop` in a safe of that name, and managed accounts.

    `older`: as before the parameter `decrypt`, without which values were sent, too.
    """

    def __init__(self, *, older: bool = False) -> None:
        super().__init__()
        self.older = older
        self.token = ""
        self.client = "shop"
        self.key = "canary-key-1"
        self.sessions = 0
        self.ended: list[str] = []
        self.folders: list[dict[str, Json]] = [
            {"Id": str(UUID(int=100)), "Name": "shop", "ParentId": str(UUID(int=1))},
            {"Id": str(UUID(int=101)), "Name": "prod", "ParentId": str(UUID(int=100))},
            {"Id": str(UUID(int=102)), "Name": "prod", "ParentId": str(UUID(int=2))},
        ]
        self.secrets: dict[str, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self.accounts: dict[tuple[str, str], str] = {}
        self.open_requests: dict[int, tuple[str, str]] = {}
        self.requests = 0

    def add(self, folder: str, title: str, value: str, kind: str = "Credential") -> str:
        """A new secret in a folder, by its path; its ID."""
        id_ = str(UUID(int=len(self.secrets) + 1000))
        head = {"Id": id_, "FolderPath": folder, "Title": title, "SecretType": kind}
        self.secrets[id_] = {**head, "Username": "ada", "Owners": [{"OwnerId": USER}], "Password": value}
        return id_

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        secrets = f"{BASE}/secrets-safe/secrets"
        of_folder = f"{BASE}/secrets-safe/folders/{{folder}}/secrets"
        return [
            web.post(f"{BASE}/Auth/connect/token", self._token),
            web.post(f"{BASE}/Auth/SignAppIn", self._sign_in),
            web.post(f"{BASE}/Auth/Signout", self._sign_out),
            web.get(f"{BASE}/secrets-safe/folders", self._list_folders),
            web.get(secrets, self._find),
            web.get(f"{secrets}/{{id}}/file/download", self._download),
            web.put(f"{secrets}/{{id}}", self._update),
            web.put(f"{secrets}/{{id}}/text", self._update),
            web.delete(f"{secrets}/{{id}}", self._delete),
            web.post(of_folder, self._create),
            web.post(f"{of_folder}/text", self._create),
            web.get(f"{BASE}/ManagedAccounts", self._account),
            web.post(f"{BASE}/Requests", self._request),
            web.get(f"{BASE}/Credentials/{{id}}", self._credential),
            web.put(f"{BASE}/Requests/{{id}}/checkin", self._check_in),
        ]

    def refusal(self, status: int, message: str) -> Refused:
        return Refused(status, message)

    def token_of(self, request: web.Request) -> str:
        return request.cookies.get("ASP.NET_SessionId", "")

    # -- sessions
    async def _token(self, request: web.Request) -> web.Response:
        form = parse_qs(await request.text())
        grant = {
            "grant_type": ["client_credentials"],
            "client_id": [self.client],
            "client_secret": [self.key],
        }
        if form != grant:
            return web.json_response({"error": "invalid_client"}, status=400)
        answer = {"access_token": f"of {self.key}", "expires_in": 3600, "token_type": "Bearer"}
        return web.json_response(answer)

    async def _sign_in(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") not in {f"PS-Auth key={self.key}", f"Bearer of {self.key}"}:
            raise self.refusal(401, "refused")
        self.sessions += 1
        self.token = f"canary-session-{self.sessions}"
        answer = web.json_response({"UserId": USER, "UserName": "shop"})
        answer.set_cookie("Affinity", "b", expires="Wed, 21 Oct 2065 07:28:00 GMT")
        answer.set_cookie("ASP.NET_SessionId", self.token, path="/", httponly=True)
        return answer

    async def _sign_out(self, request: web.Request) -> web.Response:
        self.ended.append(self.token_of(request))
        return web.Response()

    # -- Secrets Safe
    async def _list_folders(self, request: web.Request) -> web.Response:
        self.enter(request)
        start, limit = int(request.query.get("offset", "0")), int(request.query.get("limit", "1000"))
        return web.json_response(self.folders[start : start + limit])

    def _fitting(self, folder: str, title: str) -> list[dict[str, Any]]:
        each = self.secrets.values()
        return [found for found in each if (found["FolderPath"], found["Title"]) == (folder, title)]

    async def _find(self, request: web.Request) -> web.Response:
        path, title = request.query["path"].replace(request.query["separator"], "/"), request.query["title"]
        self.enter(request, f"{path}/{title}")
        shown = request.query.get("decrypt", "true" if self.older else "false") == "true"
        found = [
            each if shown and not _is_file(each) else {**each, "Password": None}
            for each in self._fitting(path, title)
        ]
        if _version(request) < (3, 2):
            return web.json_response(found)
        return web.json_response({"TotalCount": len(found), "Data": found})

    async def _download(self, request: web.Request) -> web.Response:
        self.enter(request)
        return web.Response(body=self.files[request.match_info["id"]])

    async def _create(self, request: web.Request) -> web.Response:
        self.enter(request)
        body, folder = await body_of(request), request.match_info["folder"]
        [held] = [each for each in self.folders if each["Id"] == folder]
        is_text = request.path.endswith("/text")
        owned = body.get("Owners") == [{"OwnerId": USER}] or body.get("OwnerType") == "Group"
        if not (owned and (is_text or body.get("Username"))):
            raise self.refusal(400, "invalid model")
        path = "shop/prod" if held["Name"] == "prod" else "shop"
        text: Any = body.pop("Text" if is_text else "Password")
        id_ = self.add(path, str(body["Title"]), text, "Text" if is_text else "Credential")
        self.secrets[id_] |= body
        return web.json_response({"Id": id_, "Title": body["Title"], "FolderId": folder}, status=201)

    async def _update(self, request: web.Request) -> web.Response:
        self.enter(request)
        body, held = await body_of(request), self.secrets[request.match_info["id"]]
        value = body.pop("Text" if request.path.endswith("/text") else "Password")
        if not {"Title", "Username", "Owners"} <= body.keys():
            raise self.refusal(400, "invalid model")
        held |= {**body, "Password": value}
        return web.Response(status=204)

    async def _delete(self, request: web.Request) -> web.Response:
        self.enter(request)
        del self.secrets[request.match_info["id"]]
        return web.Response(status=204)

    # -- managed accounts
    async def _account(self, request: web.Request) -> web.Response:
        name = (request.query["systemName"], request.query["accountName"])
        self.enter(request, "/".join(name))
        if name not in self.accounts:
            raise self.refusal(404, "Managed Account not found")
        number = list(self.accounts).index(name)
        return web.json_response({"SystemId": number + 10, "AccountId": number + 20, "AccountName": name[1]})

    async def _request(self, request: web.Request) -> web.Response:
        self.enter(request)
        body = await body_of(request)
        number = body["AccountID"]
        assert isinstance(number, int)
        self.requests += 1
        self.open_requests[self.requests] = list(self.accounts)[number - 20]
        return web.json_response(self.requests, status=201)

    async def _credential(self, request: web.Request) -> web.Response:
        self.enter(request)
        return web.json_response(self.accounts[self.open_requests[int(request.match_info["id"])]])

    async def _check_in(self, request: web.Request) -> web.Response:
        self.enter(request)
        del self.open_requests[int(request.match_info["id"])]
        return web.Response(status=204)


def _version(request: web.Request) -> tuple[int, ...]:
    return tuple(int(part) for part in request.query.get("version", "3.0").split("."))


def _is_file(secret: dict[str, Any]) -> bool:
    return bool(secret["SecretType"] == "File")
