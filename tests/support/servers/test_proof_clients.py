"""Vendors' own clients for Python work with our servers, used as their documentation shows.

They block: each script of calls runs in a thread, beside the loop that serves it. Clients for Go run in
`make peer-providers`; larger servers have proofs of their own.
"""

import asyncio
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import pytest

from tests.support.servers.barbican.server import Barbican
from tests.support.servers.delinea.server import Delinea
from tests.support.servers.gitlab.server import Gitlab
from tests.support.servers.infisical.server import Infisical
from tests.support.servers.rest import RestServer, running
from tests.support.servers.scaleway.server import PROJECT, Scaleway
from tests.support.servers.secretserver.server import SecretServer

pytestmark = pytest.mark.slow

T = TypeVar("T")
S = TypeVar("S", bound=RestServer)


async def used(server: S, script: Callable[[S], T]) -> T:
    """What the script comes to, on the running server."""
    async with running(server):
        return await asyncio.to_thread(script, server)


async def test_barbican_of_openstack() -> None:
    server = Barbican(time.time)
    text, binary = (f"0f6f2b1f-7c5b-4c0a-9f31-{number:012}" for number in (1, 2))
    server.secrets |= {text: b"text", binary: b"\xff\x00"}

    def script(server: Barbican) -> tuple[Any, ...]:
        v3, sessions = import_module("keystoneauth1.identity.v3"), import_module("keystoneauth1.session")
        names = {"user_domain_name": "Default", "project_domain_name": "Default", "project_name": "shop"}
        auth = v3.Password(f"{server.url}/identity/v3", username="shop", password=server.password, **names)
        client = import_module("barbicanclient.client").Client(
            session=sessions.Session(auth=auth), region_name="RegionOne", interface="public"
        )
        listed = [each.name for each in client.secrets.list(limit=10)]
        held = [client.secrets.get(f"{server.url}/key-manager/v1/secrets/{each}") for each in (text, binary)]
        return listed, [each.payload for each in held]

    assert await used(server, script) == ([text, binary], ["text", b"\xff\x00"])


async def test_devops_secrets_vault_of_delinea() -> None:
    server = Delinea()
    server.secrets["shop/db"] = {"user": "ada"}

    def script(server: Delinea) -> tuple[Any, ...]:
        vault = import_module("delinea.secrets.vault")
        authorizer = vault.PasswordGrantAuthorizer(server.url, "shop", server.secret)
        client = vault.SecretsVault(server.url, authorizer)
        with pytest.raises(vault.SecretsVaultError):
            client.get_secret("shop/none")
        wrong = vault.PasswordGrantAuthorizer(server.url, "shop", "wrong")
        with pytest.raises(vault.SecretsVaultError):
            vault.SecretsVault(server.url, wrong).get_secret("shop/db")
        return (client.get_secret("shop/db")["data"],)

    assert await used(server, script) == ({"user": "ada"},)


async def test_secret_server_of_delinea() -> None:
    server = SecretServer()
    server.add("db", user="ada", password="pw")

    def script(server: SecretServer) -> tuple[Any, ...]:
        module = import_module("delinea.secrets.server")
        authorizer = module.DomainPasswordGrantAuthorizer(server.url, "shop", "corp", server.password)
        client = module.SecretServer(server.url, authorizer)
        fields = module.ServerSecret(**client.get_secret(100)).fields
        with pytest.raises(module.SecretServerError):
            client.get_secret(999)
        by_path = client.get_secret_by_path("\\shop\\db")
        return fields["password"].value, by_path["name"], client.search_secrets(_searching("db"))

    password, name, found = await used(server, script)

    assert (password, name) == ("pw", "db")
    assert '"id": 100' in found


def _searching(text: str) -> dict[str, str]:
    return {"paging.filter.searchText": text, "paging.filter.searchField": "Name"}


async def test_gitlab() -> None:
    def script(server: Gitlab) -> tuple[Any, ...]:
        module = import_module("gitlab")
        client = module.Gitlab(server.url, private_token=server.token)
        project = client.projects.get(7, lazy=True)
        project.variables.create({"key": "A", "value": "1"})
        project.variables.create({"key": "A", "value": "2", "environment_scope": "production"})
        scoped = project.variables.get("A", filter={"environment_scope": "production"})
        scoped.value = "3"
        scoped.save(filter={"environment_scope": "production"})
        with pytest.raises(module.exceptions.GitlabGetError):
            project.variables.get("NONE")
        for number in range(150):
            project.variables.create({"key": f"K_{number}", "value": "v"})
        every = project.variables.list(get_all=True)
        groups = [each.full_path for each in project.groups.list(get_all=True)]
        project.variables.delete("K_1")
        values = [each.value for each in every if each.key == "A"]
        return values, len(every), groups, len(project.variables.list(get_all=True))

    assert await used(Gitlab(), script) == (["1", "3"], 152, ["shop"], 151)


async def test_infisical() -> None:
    def script(server: Infisical) -> tuple[Any, ...]:
        module = import_module("infisical_sdk")
        with module.InfisicalSDKClient(host=server.url, cache_ttl=None) as client:
            client.auth.universal_auth.login("shop", server.secret)
            place = {"environment_slug": "prod", "secret_path": "/"}
            client.secrets.create_secret_by_name(secret_name="A", project_id="p-1", secret_value="1", **place)
            client.secrets.update_secret_by_name(
                current_secret_name="A", project_id="p-1", secret_value="2", **place
            )
            read = client.secrets.get_secret_by_name(secret_name="A", project_slug="shop", **place)
            every = client.secrets.list_secrets(project_slug="shop", **place).secrets
            client.secrets.delete_secret_by_name(secret_name="A", project_id="p-1", **place)
            with pytest.raises(Exception, match="not found"):
                client.secrets.get_secret_by_name(secret_name="A", project_slug="shop", **place)
            return read.secretValue, [each.secretKey for each in every], server.logins

    assert await used(Infisical(), script) == ("2", ["A"], ["universal-auth"])


async def test_scaleway() -> None:
    def script(server: Scaleway) -> tuple[Any, ...]:
        client = import_module("scaleway").Client(
            access_key="SCWXXXXXXXXXXXXXXXXX",
            secret_key=server.token,
            api_url=server.url,
            default_region="fr-par",
            default_project_id=PROJECT,
        )
        api = import_module("scaleway.secret.v1beta1").SecretV1Beta1API(client)
        made = api.create_secret(name="db", tags=["team"], path="/shop", protected=False)
        for value in (b"one", b"two"):
            api.create_secret_version(
                secret_id=made.id, data=b64encode(value).decode(), disable_previous=True
            )
        latest = api.access_secret_version(secret_id=made.id, revision="latest_enabled")
        by_path = api.access_secret_version_by_path(
            revision="2", secret_name="db", secret_path="/shop", project_id=PROJECT
        )
        alive = {"scheduled_for_deletion": False}
        names = [each.name for each in api.list_secrets_all(project_id=PROJECT, tags=["team"], **alive)]
        api.delete_secret(secret_id=made.id)
        return b64decode(latest.data), b64decode(by_path.data), names, len(server.secrets)

    assert await used(Scaleway(), script) == (b"two", b"two", ["db"], 0)
