"""Secrets Manager's REST API, version 2, of one instance.

Written from the published reference: https://cloud.ibm.com/apidocs/secrets-manager/secrets-manager-v2
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from aiohttp import web

from tests.support.servers.ibm.errors import IbmError
from tests.support.servers.ibm.identity import Identity
from tests.support.servers.ibm.paging import page
from tests.support.servers.ibm.secrets import NAME, Group, Lock, Secret, Shown, Version
from tests.support.servers.ibm.types import COMMON, Types

Handle: TypeAlias = Callable[["Call"], Shown | None]

_PATCHABLE = COMMON - {"secret_type", "secret_group_id"} | {"rotation", "ttl", "expiration_date"}


class Call:
    """One request: who asks what."""

    def __init__(self, request: web.Request, who: str, body: Any) -> None:  # noqa: ANN401  # JSON
        self.who = who
        self.query = request.query
        self.path = request.match_info
        self.url = request.url
        self.body: Shown = body if isinstance(body, dict) else {}


class SecretsManager:
    """The secrets of one instance, and who may do what."""

    def __init__(self, identity: Identity, now: Callable[[], float]) -> None:
        self.types = Types(now)
        self.groups = [Group("default", "", now(), "IBMid-1", id="default")]
        self.secrets: dict[str, Secret] = {}
        self.members: dict[str, set[str] | None] = {}
        """The groups (by id) that an IAM id may work in; None for all."""
        self.refused: set[str] = set()
        """Secrets (by id) whose value nobody may read."""
        self.calls: list[str] = []
        """What was asked, as `GET /secrets/{id}`; tests count these."""
        self._identity = identity
        self._now = now

    # -- for tests, past the API
    def group(self, name: str) -> Group:
        """A new group."""
        group = Group(name, "", self._now(), "IBMid-1")
        self.groups.append(group)
        return group

    def seed(self, kind: str, name: str, group: str = "default", **fields: object) -> Secret:
        """A new secret, in the group of this id."""
        body: Shown = {"secret_type": kind, "name": name, "secret_group_id": group, **fields}
        return self._created("IBMid-1", body)

    def find(self, kind: str, name: str, group: str = "default") -> Secret | None:
        """By type, name and id of the group: together they are unique."""
        wanted = (kind, name, group)
        return next((s for s in self.secrets.values() if (s.type, s.name, s.group) == wanted), None)

    def destroy(self, secret: Secret) -> None:
        """It has expired: it is there, without a value."""
        secret.state, secret.current.data = 5, {}

    # -- the API
    def routes(self) -> list[web.RouteDef]:
        table: list[tuple[str, str, Handle, int]] = [
            ("POST", "/secret_groups", self._create_group, 201),
            ("GET", "/secret_groups", self._list_groups, 200),
            ("GET", "/secret_groups/{group}", lambda call: self._group(call).shown(), 200),
            ("PATCH", "/secret_groups/{group}", self._patch_group, 200),
            ("DELETE", "/secret_groups/{group}", self._delete_group, 204),
            ("GET", "/secret_groups/{group}/secret_types/{type}/secrets/{name}", self._by_name, 200),
            ("POST", "/secrets", lambda call: self._created(call.who, call.body).shown(), 201),
            ("GET", "/secrets", self._list, 200),
            ("GET", "/secrets/{id}", lambda call: self._read(self._secret(call), call.who), 200),
            ("DELETE", "/secrets/{id}", self._delete, 204),
            ("GET", "/secrets/{id}/metadata", lambda call: self._secret(call).metadata(), 200),
            ("PATCH", "/secrets/{id}/metadata", self._patch, 200),
            ("POST", "/secrets/{id}/versions", self._rotate, 201),
            ("GET", "/secrets/{id}/versions", self._versions, 200),
            ("GET", "/secrets/{id}/versions/{version}", self._version, 200),
            ("GET", "/secrets/{id}/versions/{version}/metadata", self._version_metadata, 200),
            ("DELETE", "/secrets/{id}/versions/{version}/secret_data", self._forget, 204),
            ("GET", "/secrets/{id}/locks", self._locks, 200),
            ("POST", "/secrets/{id}/locks_bulk", self._lock, 201),
            ("DELETE", "/secrets/{id}/locks_bulk", self._unlock, 200),
        ]
        return [
            web.route(method, f"/api/v2{path}", self._served(f"{method} {path}", handle, status))
            for method, path, handle, status in table
        ]

    def _served(self, name: str, handle: Handle, status: int) -> Callable[[web.Request], Any]:
        async def serve(request: web.Request) -> web.Response:
            who = self._identity.caller(request.headers.get("Authorization", ""))
            if who not in self.members:
                raise IbmError("forbidden", "You are not authorized to use this instance.")
            self.calls.append(name)
            body: Any = await request.json() if request.can_read_body else None
            answer = handle(Call(request, who, body))
            return web.Response(status=status) if answer is None else web.json_response(answer, status=status)

        return serve

    # -- groups
    def _group(self, call: Call, name: str = "") -> Group:
        wanted = name or call.path["group"]
        for group in self.groups:
            if wanted == (group.name if name else group.id):
                return group
        raise IbmError("not_found", "The secret group was not found.")

    def _create_group(self, call: Call) -> Shown:
        name = str(call.body.get("name", ""))
        if not name or any(group.name == name for group in self.groups):
            raise IbmError("conflict" if name else "bad_request", "The name of the group cannot be used.")
        self.groups.append(Group(name, call.body.get("description", ""), self._now(), call.who))
        return self.groups[-1].shown()

    def _list_groups(self, _call: Call) -> Shown:
        return {"secret_groups": [group.shown() for group in self.groups], "total_count": len(self.groups)}

    def _patch_group(self, call: Call) -> Shown:
        group = self._group(call)
        group.name = call.body.get("name", group.name)
        group.description = call.body.get("description", group.description)
        return group.shown()

    def _delete_group(self, call: Call) -> None:
        group = self._group(call)
        if group.id == "default" or any(secret.group == group.id for secret in self.secrets.values()):
            raise IbmError("conflict", "The group is not empty.")
        self.groups.remove(group)

    # -- secrets
    def _may(self, who: str, group: str) -> bool:
        groups = self.members[who]
        return groups is None or group in groups

    def _secret(self, call: Call) -> Secret:
        secret = self.secrets.get(call.path["id"])
        if secret is None:
            raise IbmError("not_found", "The secret was not found.")
        return self._allowed(secret, call.who)

    def _allowed(self, secret: Secret, who: str) -> Secret:
        if not self._may(who, secret.group):
            raise IbmError("forbidden", "You are not authorized to access this secret.")
        return secret

    def _by_name(self, call: Call) -> Shown:
        group = self._group(call, call.path["group"])
        secret = self.find(call.path["type"], call.path["name"], group.id)
        if secret is None:
            raise IbmError("not_found", "The secret was not found.")
        return self._read(self._allowed(secret, call.who), call.who)

    def _read(self, secret: Secret, who: str) -> Shown:
        if secret.id in self.refused:
            raise IbmError("forbidden", f"{who} is not authorized to read this secret.")
        if secret.type == "iam_credentials" and not secret.config["reuse_api_key"] and secret.current.data:
            body = {"service_id": secret.current.beside["service_id"]}
            made = self.types.renewed(secret.type, secret.config, secret.current.data, body)
            secret.current.data, secret.current.beside = made.data, made.beside
        secret.retrieved, secret.current.downloaded = self._now(), True
        return secret.shown()

    def _created(self, who: str, body: Shown) -> Secret:
        name, kind = str(body.get("name", "")), str(body.get("secret_type", ""))
        group = str(body.get("secret_group_id") or "default")
        if not NAME.match(name):
            raise IbmError("bad_request", "The name of the secret is not valid.")
        if all(each.id != group for each in self.groups):
            raise IbmError("bad_request", "The secret group was not found.")
        if who in self.members and not self._may(who, group):
            raise IbmError("forbidden", "You are not authorized to create secrets in this group.")
        if self.find(kind, name, group) is not None:
            raise IbmError("conflict", "A secret with this name already exists.")
        made = self.types.made(kind, body)
        told: Shown = {key: body[key] for key in ("description", "labels", "custom_metadata") if key in body}
        secret = Secret(kind, name, group, self._now(), who, {**told, **made.config})
        custom = body.get("version_custom_metadata", {})
        secret.add(Version(made.data, self._now(), who, custom, made.beside))
        self.secrets[secret.id] = secret
        return secret

    def _delete(self, call: Call) -> None:
        secret = self._secret(call)
        if secret.locks:
            raise IbmError("precondition_failed", "The secret is locked.")
        del self.secrets[secret.id]

    def _patch(self, call: Call) -> Shown:
        secret = self._secret(call)
        if not set(call.body) <= _PATCHABLE:
            raise IbmError("bad_request", "The metadata hold a field that cannot be changed.")
        changes = dict(call.body)
        secret.name = changes.pop("name", secret.name)
        secret.config = {key: v for key, v in {**secret.config, **changes}.items() if v is not None}
        secret.updated = self._now()
        return secret.metadata()

    def _list(self, call: Call) -> Shown:
        seen = [secret.metadata() for secret in self.secrets.values() if self._may(call.who, secret.group)]
        return page(call.query, call.url, "secrets", seen)

    # -- versions
    def _rotate(self, call: Call) -> Shown:
        secret = self._secret(call)
        made = self.types.renewed(secret.type, secret.config, secret.current.data, call.body)
        version = Version(
            made.data, self._now(), call.who, call.body.get("version_custom_metadata", {}), made.beside
        )
        secret.add(version)
        return secret.version_shown(version)

    def _versions(self, call: Call) -> Shown:
        secret = self._secret(call)
        told = [secret.version_metadata(version) for version in reversed(secret.versions)]
        return {"versions": told, "total_count": len(told)}

    def _version(self, call: Call) -> Shown:
        secret = self._secret(call)
        version = secret.version(call.path["version"])
        version.downloaded = True
        return secret.version_shown(version)

    def _version_metadata(self, call: Call) -> Shown:
        secret = self._secret(call)
        return secret.version_metadata(secret.version(call.path["version"]))

    def _forget(self, call: Call) -> None:
        version = self._secret(call).version(call.path["version"])
        if version.locks:
            raise IbmError("precondition_failed", "The version is locked.")
        version.data = {}

    # -- locks
    def _locks(self, call: Call) -> Shown:
        secret = self._secret(call)
        told = [secret.lock_shown(v, lock) for v in secret.versions for lock in v.locks.values()]
        return page(call.query, call.url, "locks", told)

    def _lock(self, call: Call) -> Shown:
        secret = self._secret(call)
        for wanted in call.body.get("locks", []):
            if call.query.get("mode", "").startswith("remove_previous") and len(secret.versions) > 1:
                secret.version("previous").locks.pop(wanted["name"], None)
            secret.current.locks[wanted["name"]] = Lock(
                wanted["name"],
                wanted.get("description", ""),
                wanted.get("attributes", {}),
                self._now(),
                call.who,
            )
        return self._locked(secret)

    def _unlock(self, call: Call) -> Shown:
        secret = self._secret(call)
        names = [name for name in call.query.get("name", "").split(",") if name]
        for version in secret.versions:
            for name in names or list(version.locks):
                version.locks.pop(name, None)
        return self._locked(secret)

    def _locked(self, secret: Secret) -> Shown:
        versions = [
            {
                "version_id": version.id,
                "version_alias": secret.version_metadata(version).get("alias", ""),
                "locks": list(version.locks),
                "payload_available": bool(version.data),
            }
            for version in secret.versions
        ]
        return {
            "secret_id": secret.id,
            "secret_group_id": secret.group,
            "secret_type": secret.type,
            "secret_name": secret.name,
            "versions": versions,
        }
