"""As whom a resource's secrets are read: as its Secret says, or as the daemon itself, if that may be."""

from collections.abc import Iterable
from functools import partial
from typing import Final, NamedTuple

from syncret.providers.contract import OwnIdentity, Receiver
from syncret.providers.errors import Malformed
from syncret.providers.kit import environment
from syncret.providers.kit.ambient.azure import log_in_with_managed_identity, pod_login
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.azure import entra
from syncret.providers.kit.azure.clouds import CLOUDS
from syncret.providers.kit.azure.entra import Application, Login, LoginFields
from syncret.providers.kit.azure.signing import ClientCertificate
from syncret.providers.kit.http import Http
from syncret.providers.secret_apis import CallIdentity, SecretApisContext
from syncret.providers.values import SecretBytes, SecretMap

NAME: Final = "azurerm"
ACCESS: Final = "an access token of the daemon's own identity at Azure"
FEDERATED: Final = "the federated token of the daemon's pod"

_OWN: Final = "(the daemon's own)"
_TOKEN_FILE: Final = "AZURE_FEDERATED_TOKEN_FILE"


class Manager(NamedTuple):
    """The resource manager of a cloud."""

    authority: str
    endpoint: str
    audience: str
    """The audience of tokens for it."""


class Principal(NamedTuple):
    """The caller. Azure limits calls by caller."""

    id: str
    login: Login


def manager() -> Manager:
    """The manager of the public cloud, or that of the daemon's variables; never one named by a resource."""
    addresses = environment.ADDRESSES
    cloud = CLOUDS["PublicCloud"].with_overrides(addresses)
    endpoint = addresses.get("AZURE_RESOURCE_MANAGER_ENDPOINT", "").rstrip("/")
    audience = addresses.get("AZURE_RESOURCE_MANAGER_AUDIENCE", "").rstrip("/")
    return Manager(cloud.authority, endpoint or cloud.management, audience or endpoint or cloud.management)


async def principal(identity: CallIdentity, at: Manager, http: Http, context: SecretApisContext) -> Principal:
    """The caller for a resource. Raises SyncError before any token is requested."""
    if identity.secret is None:
        return _own_principal(identity, at, http, context)
    fields = _Fields(identity.secret.name, identity.data)
    client = fields.text("AZURE_CLIENT_ID")
    if "AZURE_CLIENT_SECRET" in fields.data:
        secret = SecretBytes(fields.text("AZURE_CLIENT_SECRET").encode())
        who = _application(fields, at, "AZURE_CLIENT_SECRET")
        return Principal(client, partial(entra.log_in_with_secret, http, who, secret, context.now))
    if "AZURE_CLIENT_CERTIFICATE" in fields.data:
        who = _application(fields, at, "AZURE_CLIENT_CERTIFICATE")
        certificate = await _certificate(fields, context)
        return Principal(client, partial(entra.log_in_with_certificate, http, who, certificate, context.now))
    if fields.is_pod_identity():
        own = _grant(identity, context, [Receiver(NAME, at.endpoint, ACCESS)])
        login = partial(log_in_with_managed_identity, own, at.audience, client, context.now)
        return Principal(client, login)
    own = _grant(
        identity, context, [Receiver(NAME, at.authority, FEDERATED), Receiver(NAME, at.endpoint, ACCESS)]
    )
    return Principal(client, _federated(own, http, _application(fields, at, _TOKEN_FILE), context))


class _Fields(NamedTuple):
    """The values of a Secret with credentials, by the names of Azure Service Operator."""

    name: str
    data: SecretMap

    def text(self, key: str) -> str:
        """A value, without surrounding white space. Raises Malformed if it is missing or empty."""
        value = self.data[key].raw.decode("utf-8", "replace").strip() if key in self.data else ""
        if not value:
            raise Malformed(
                f"the Secret {self.name} has no {key}",
                hint="Azure needs AZURE_TENANT_ID, AZURE_CLIENT_ID, and AZURE_CLIENT_SECRET or "
                "AZURE_CLIENT_CERTIFICATE",
            )
        return value

    def is_pod_identity(self) -> bool:
        """Whether it is an identity of the machine, and not of the pod. Raises Malformed."""
        if "AUTH_MODE" not in self.data:
            return False
        mode = self.text("AUTH_MODE").lower()
        if mode not in {"podidentity", "workloadidentity"}:
            raise Malformed(
                f"the Secret {self.name} has an AUTH_MODE that is not known",
                hint="write workloadidentity or podidentity",
            )
        return mode == "podidentity"


def _application(fields: _Fields, at: Manager, proof: str) -> Application:
    return Application(
        authority=at.authority,
        tenant=fields.text("AZURE_TENANT_ID"),
        client_id=fields.text("AZURE_CLIENT_ID"),
        resource=at.audience,
        fields=LoginFields(
            f"Secret {fields.name}", client="AZURE_CLIENT_ID", tenant="AZURE_TENANT_ID", proof=proof
        ),
    )


async def _certificate(fields: _Fields, context: SecretApisContext) -> ClientCertificate:
    document = SecretBytes(fields.data["AZURE_CLIENT_CERTIFICATE"].raw)
    password = fields.data.get("AZURE_CLIENT_CERTIFICATE_PASSWORD")
    place = f'key "AZURE_CLIENT_CERTIFICATE" of Secret "{fields.name}"'
    return await context.compute(lambda work: ClientCertificate(document, place, work, password=password))


def _own_principal(identity: CallIdentity, at: Manager, http: Http, context: SecretApisContext) -> Principal:
    """The identity that Azure gives to the daemon's pod or machine."""
    receivers = [Receiver(NAME, at.endpoint, ACCESS)]
    own = _grant(identity, context, receivers)
    if own.environment.get(_TOKEN_FILE):
        own = _grant(identity, context, [Receiver(NAME, at.authority, FEDERATED), *receivers])
        return Principal(_OWN, pod_login(own, at.authority, at.audience, http, context.now))
    client = own.environment.get("AZURE_CLIENT_ID", "")
    return Principal(_OWN, partial(log_in_with_managed_identity, own, at.audience, client, context.now))


def _grant(identity: CallIdentity, context: SecretApisContext, receivers: Iterable[Receiver]) -> OwnIdentity:
    """The daemon's own identity, for exports of the resource's namespace. Raises Denied."""
    namespace = identity.resource.namespace
    ask = context.ambient(identity.resource)
    return ask([receiver._replace(exports_of=namespace) for receiver in receivers])


def _federated(own: OwnIdentity, http: Http, who: Application, context: SecretApisContext) -> Login:
    """A login as another application that trusts the daemon's pod: its Secret names no proof of its own."""
    path = own.environment.get(_TOKEN_FILE, "")
    if not path:
        raise Malformed(
            f"the Secret names no proof, and the daemon has no federated token ({_TOKEN_FILE})",
            hint="write AZURE_CLIENT_SECRET or AZURE_CLIENT_CERTIFICATE into it, or label the daemon's pod "
            "azure.workload.identity/use=true",
        )

    async def login() -> ExpiringValue[SecretBytes]:
        token = own.read_file(path, what="federated token")
        return await entra.log_in_with_token(http, who, token, context.now)

    return login
