"""Certificate Manager as the suite can talk to it: a value is a certificate with its key, a key its name."""

from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from syncret.providers.aws.certificate_manager import CertificateManagerClient
from syncret.providers.contract import Client, Readiness
from syncret.providers.errors import SyncError
from syncret.providers.kit.golang import json as gojson
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.testing import Ability, Entry
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work
from tests.support.servers.aws import REGION, Call, Fault, Gateway, always

END: Final = "-----END CERTIFICATE-----\n"


@lru_cache
def bundle(name: str) -> bytes:
    """A certificate of that name, the one that signed it, and its key: the same each time."""
    issuer_key, issuer = _certificate("issuer")
    key, certificate = _certificate(name, issuer_key)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate + issuer + pem


@lru_cache
def _certificate(name: str, signer: rsa.RSAPrivateKey | None = None) -> tuple[rsa.RSAPrivateKey, bytes]:
    key = rsa.generate_private_key(65537, 2048)
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "issuer")]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .sign(signer or key, SHA256())
    )
    return key, certificate.public_bytes(Encoding.PEM)


class Parts(NamedTuple):
    """A bundle taken apart; what is none is everything."""

    leaf: str
    chain: str
    key: str

    @classmethod
    def of(cls, whole: bytes) -> "Parts":
        pieces = whole.decode().split(END)
        if len(pieces) == 1:
            return cls(pieces[0], pieces[0], pieces[0])
        leaf, *chain, key = pieces
        return cls(leaf + END, "".join(piece + END for piece in chain), key)


class Certificates:
    """What is in Certificate Manager, by the names of the suite. Exports are answered here, not by moto."""

    def __init__(self, gate: Gateway) -> None:
        self.gate = gate
        self.arns: dict[str, str] = {}
        self.known: dict[str, Parts] = {}
        """By certificate."""
        gate.replies["DescribeCertificate"] = always({"Certificate": {"Options": {"Export": "ENABLED"}}})
        gate.replies["ExportCertificate"] = self.exported
        gate.replies["GetCertificate"] = self.public

    def know(self, whole: bytes) -> Parts:
        parts = self.known[Parts.of(whole).leaf.strip()] = Parts.of(whole)
        return parts

    async def seed(self, entry: Entry) -> None:
        leaf, chain, key = map(_encoded, self.know(entry.value))
        given = {"Certificate": leaf, "CertificateChain": chain, "PrivateKey": key}
        answer = await self.gate.behind("acm", "ImportCertificate", **given)
        self.arns[entry.key] = answer["CertificateArn"]

    async def arn(self, name: str) -> str:
        """Of what was seeded, or of what a provider has marked with this key."""
        if name in self.arns:
            return self.arns[name]
        wanted = [{"Key": "external-secrets-remote-key", "Values": [name]}]
        found = await self.gate.behind("tagging", "GetResources", TagFilters=wanted)
        for mapping in found["ResourceTagMappingList"]:
            self.arns[name] = str(mapping["ResourceARN"])  # moto forgets the tags when it is imported again
            return self.arns[name]
        return f"arn:aws:acm:{REGION}:123456789012:certificate/00000000-0000-0000-0000-000000000000"

    async def stored(self, name: str) -> bytes | None:
        answer = await self.gate.behind("acm", "GetCertificate", CertificateArn=await self.arn(name))
        if "Certificate" not in answer:
            return None
        return "".join(self.known[answer["Certificate"].strip()]).encode()

    async def public(self, call: Call) -> Mapping[str, Any] | Fault:
        """GetCertificate, without the root that moto adds to every chain."""
        answer = await self.gate.behind("acm", "GetCertificate", **call.parameters)
        if "Certificate" not in answer:
            return Fault(400, "ResourceNotFoundException", answer["message"])
        parts = self.known[answer["Certificate"].strip()]
        return {"Certificate": parts.leaf, "CertificateChain": parts.chain}

    async def exported(self, call: Call) -> Mapping[str, Any]:
        """ExportCertificate: the key is sent encrypted."""
        arn = call.parameters["CertificateArn"]
        answer = await self.gate.behind("acm", "GetCertificate", CertificateArn=arn)
        parts = self.known[answer["Certificate"].strip()]
        key = load_pem_private_key(parts.key.encode(), None)
        sealed = BestAvailableEncryption(b64decode(call.parameters["Passphrase"]))
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, sealed).decode()
        return {"Certificate": parts.leaf, "CertificateChain": parts.chain, "PrivateKey": pem}


class Adapter:
    """The client, with names for ARNs and bundles for TLS Secrets."""

    def __init__(self, client: CertificateManagerClient, certificates: Certificates) -> None:
        self._client = client
        self._certificates = certificates

    def __repr__(self) -> str:
        return repr(self._client)

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        arns = {key: key._replace(key=await self._certificates.arn(key.key)) for key in keys}
        found = await self._client.fetch(list(arns.values()))
        return {key: found[arn] for key, arn in arns.items() if arn in found}

    def value(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes | None:
        return self._client.value(payload, ref, work)

    def fields(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        return self._client.fields(payload, ref, work)

    async def push(self, item: PushItem) -> None:
        parts = self._certificates.know(item.value.raw)
        secret = gojson.marshal({"tls.crt": parts.leaf + parts.chain, "tls.key": parts.key}, Work()).encode()
        await self._client.push(replace(item, value=SecretBytes(secret), secret_key=""))

    async def delete(self, target: RemoteTarget) -> None:
        await self._client.delete(target)

    async def exists(self, target: RemoteTarget) -> bool:
        return await self._client.exists(target)

    async def probe(self) -> Readiness:
        return await self._client.probe()


@asynccontextmanager
async def adapted(
    opening: AbstractAsyncContextManager[Client], certificates: Certificates
) -> AsyncGenerator[Client, None]:
    async with opening as client:
        assert isinstance(client, CertificateManagerClient)
        yield Adapter(client, certificates)


LACKS: Final[Mapping[Ability, str]] = {
    Ability.PROPERTY: "a certificate has no properties",
    Ability.MAP: "a certificate is no map: ESO refuses it too",
    Ability.VERSION: "AWS keeps no former certificates",
    Ability.FIND_NAME: "certificates have no names: ESO finds none either",
    Ability.FIND_PATH: "certificates have no names: ESO finds none either",
    Ability.FIND_TAGS: "certificates have no names: ESO finds none either",
    Ability.PUSH_PROPERTY: "a certificate has no properties",
    Ability.DELETE_PROPERTY: "a certificate has no properties",
    Ability.OWN: "a key is looked up by our tags, so what others made cannot be met",
}


def _encoded(text: str) -> str:
    return b64encode(text.encode()).decode()
