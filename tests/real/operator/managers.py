"""Secret managers for the stores of one installation: each has one secret, and somebody who may read it."""

import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from msgspec import Struct

from syncret.config.meta import Document
from tests.support.servers.aws import REGION, SERVICES, Gateway, gateway, moto_server
from tests.support.servers.azure.directory import TENANT
from tests.support.servers.azure.server import azure
from tests.support.servers.azure.variables import variables as of_azure
from tests.support.servers.google.secrets import Secret
from tests.support.servers.google.server import google
from tests.support.servers.google.variables import variables as of_google
from tests.support.servers.ibm.server import ibm
from tests.support.servers.kube.running import KubeApi
from tests.support.servers.vault.running import vault

KEY: Final = "app"
PROPERTY: Final = "v"


class Manager(Struct, frozen=True, kw_only=True):
    """One of them."""

    name: str
    provider: Document
    """Of the store's spec; it logs in by a Secret of this manager's name."""
    login: Mapping[str, str]
    """What that Secret holds."""
    put: Callable[[str], Awaitable[object]]
    """Write a value, as the secret's first version or its next."""
    key: str = KEY
    variables: Mapping[str, str] = {}
    """By which a process finds it."""
    refusal: str
    """What is said of a login that is wrong, by the store or by who reads it."""


def ref(name: str, key: str) -> Document:
    """A key of the login's Secret."""
    return {"name": name, "key": key}


def held(value: str) -> str:
    """A secret as text."""
    return json.dumps({PROPERTY: value})


@asynccontextmanager
async def managers(api: KubeApi, namespace: str) -> AsyncGenerator[list[Manager]]:
    """All of them, for as long as the block lasts."""
    async with AsyncExitStack() as stack:
        yield [
            of_vault(),
            *await of_aws(stack),
            await of_gcp(stack),
            await of_key_vault(stack),
            await of_ibm(stack),
            of_kubernetes(api, namespace),
        ]


def of_vault() -> Manager:
    """A real one."""
    server = vault()
    mount = server.mount("kv", version="2")
    token = server.token(server.policy(**{f"{mount}/*": "read list"}))

    async def put(value: str) -> None:
        server.write(f"{mount}/data/{KEY}", data={PROPERTY: value})

    auth = {"tokenSecretRef": ref("vault", "token")}
    return Manager(
        name="vault",
        provider={"vault": {"server": server.url, "path": mount, "version": "v2", "auth": auth}},
        login={"token": token},
        put=put,
        refusal="it is wrong, has expired or was revoked",
    )


async def of_aws(stack: AsyncExitStack) -> list[Manager]:
    """Secrets Manager and Parameter Store, of moto behind a gateway that verifies signatures."""
    gate, address = await stack.enter_async_context(gateway(stack.enter_context(moto_server())))
    variables = {f"AWS_{service}_ENDPOINT": address for service in SERVICES}
    [(key, person)] = gate.people.items()

    def manager(name: str, service: str, put: Callable[[str], Awaitable[object]]) -> Manager:
        secret_ref = {
            "accessKeyIDSecretRef": ref(name, "id"),
            "secretAccessKeySecretRef": ref(name, "secret"),
        }
        return Manager(
            name=name,
            provider={"aws": {"service": service, "region": REGION, "auth": {"secretRef": secret_ref}}},
            login={"id": key, "secret": person.secret},
            put=put,
            variables=variables,
            refusal="UnrecognizedClientException",
        )

    return [
        manager("aws-secrets", "SecretsManager", put_secret(gate)),
        manager("aws-parameters", "ParameterStore", put_parameter(gate)),
    ]


def put_secret(gate: Gateway) -> Callable[[str], Awaitable[object]]:
    """Into Secrets Manager."""

    async def put(value: str) -> None:
        made = await gate.behind("secretsmanager", "CreateSecret", Name=KEY, SecretString=held(value))
        if "ARN" not in made:
            await gate.behind("secretsmanager", "PutSecretValue", SecretId=KEY, SecretString=held(value))

    return put


def put_parameter(gate: Gateway) -> Callable[[str], Awaitable[object]]:
    """Into Parameter Store."""

    async def put(value: str) -> None:
        await gate.behind(
            "ssm", "PutParameter", Name=KEY, Value=held(value), Type="SecureString", Overwrite=True
        )

    return put


async def of_gcp(stack: AsyncExitStack) -> Manager:
    """Secret Manager of Google."""
    cloud = await stack.enter_async_context(google())
    key = cloud.identity.key_json(cloud.identity.account("syncret")).decode()
    name = f"projects/{cloud.identity.projects['acme']}/secrets/{KEY}"
    secret = Secret(name, time.time(), {"replication": {"automatic": {}}})
    cloud.manager.secrets[name] = secret

    async def put(value: str) -> None:
        secret.add(held(value).encode(), None, time.time)

    auth = {"secretRef": {"secretAccessKeySecretRef": ref("gcp", "key.json")}}
    return Manager(
        name="gcp",
        provider={"gcpsm": {"projectID": "acme", "auth": auth}},
        login={"key.json": key},
        put=put,
        variables=of_google(cloud),
        refusal="holds no key file",
    )


async def of_key_vault(stack: AsyncExitStack) -> Manager:
    """Key Vault of Azure."""
    cloud = await stack.enter_async_context(azure())
    application = cloud.member("syncret", secret="of-azure")

    async def put(value: str) -> None:
        cloud.vault.add(f"secrets/{KEY}", {"value": held(value)})

    auth = {"clientId": ref("azure", "id"), "clientSecret": ref("azure", "secret")}
    return Manager(
        name="azure",
        provider={"azurekv": {"vaultUrl": cloud.url, "tenantId": TENANT, "authSecretRef": auth}},
        login={"id": application.client_id, "secret": "of-azure"},
        put=put,
        variables=of_azure(cloud),
        refusal="AADSTS700016",
    )


async def of_ibm(stack: AsyncExitStack) -> Manager:
    """Secrets Manager of IBM."""
    cloud = await stack.enter_async_context(ibm())
    group = cloud.manager.group("team")
    secret = cloud.manager.seed("kv", KEY, group.id, data={PROPERTY: ""})

    async def put(value: str) -> None:
        secret.current.data["data"] = {PROPERTY: value}

    auth = {"secretRef": {"secretApiKeySecretRef": ref("ibm", "key"), "iamEndpoint": cloud.url}}
    return Manager(
        name="ibm",
        provider={"ibm": {"serviceUrl": cloud.url, "auth": auth}},
        login={"key": cloud.service("syncret")},
        put=put,
        key=f"team/kv/{KEY}",
        refusal="BXNIM0415E",
    )


def of_kubernetes(api: KubeApi, namespace: str) -> Manager:
    """The Secrets of a namespace, read by an account of its own."""
    path = f"/api/v1/namespaces/{namespace}/secrets"
    account = api.account(
        namespace,
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]},
        {
            "apiGroups": ["authorization.k8s.io"],
            "resources": ["selfsubjectrulesreviews", "selfsubjectaccessreviews"],
            "verbs": ["create"],
        },
    )

    async def put(value: str) -> None:
        document = {"metadata": {"name": KEY}, "stringData": {PROPERTY: value}}
        if api.request("PATCH", f"{path}/{KEY}", document).status != 200:
            api.create(path, document)

    server = {"url": api.url, "caBundle": api.ca_base64}
    auth = {"token": {"bearerToken": ref("kubernetes", "token")}}
    return Manager(
        name="kubernetes",
        provider={"kubernetes": {"server": server, "auth": auth, "remoteNamespace": namespace}},
        login={"token": api.token(namespace, account)},
        put=put,
        refusal="401 Unauthorized",
    )
