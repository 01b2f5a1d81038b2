"""Principals that sign: a user, the machine that the daemon runs on, or a workload of its cluster.

The last two get a token for a key that is made for the session; the machine proves itself by its certificate.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from syncret.providers.contract import OpenContext, OwnIdentity
from syncret.providers.errors import Malformed
from syncret.providers.kit.ambient.oracle import machine, workload_session
from syncret.providers.kit.auth import jwt
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.auth.oracle_requests import Signer, signature
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.http import Http, json_body
from syncret.providers.kit.references import read_text
from syncret.providers.oracle.receivers import receivers
from syncret.providers.oracle.spec import OracleAuth, OracleSpec
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

if TYPE_CHECKING:  # slow to import
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_TENANT: Final = "opc-tenant:"
_KEY_COST: Final = 200_000
"""Steps of the budget that a new key takes, about."""
_SECONDS: Final = 3600
_AUDIENCE: Final = "api"


class _Token(msgspec.Struct):
    token: str


async def log_in(spec: OracleSpec, http: Http, context: OpenContext) -> ExpiringValue[Signer]:
    """The signer of the principal that the spec names. Raises SyncError."""
    if spec.principal_type == "InstancePrincipal":
        return await _machine(context.ambient(receivers(spec)), http, context)
    if spec.principal_type == "Workload":
        return await _workload(spec, context.ambient(receivers(spec)), context)
    if spec.auth is None:
        raise Malformed("the store names nobody who signs", hint="write auth, or another principalType")
    return ExpiringValue(await _user(spec.auth, context))


async def _user(auth: OracleAuth, context: OpenContext) -> Signer:
    path, selector = "auth.secretRef", auth.secret_ref.privatekey
    pem = (await read_text(context, selector, f"{path}.privatekey")).encode()
    fingerprint = await read_text(context, auth.secret_ref.fingerprint, f"{path}.fingerprint")
    key = await context.compute(lambda work: jwt.private_key(pem, work))
    if key is None:
        raise Malformed(
            f'key "{selector.key}" of Secret "{selector.name}" holds no RSA key',
            hint="store the PEM file of the user's API key, without a password",
        )
    return Signer(f"{auth.tenancy}/{auth.user}/{fingerprint.strip()}", key)


async def _machine(own: OwnIdentity, http: Http, context: OpenContext) -> ExpiringValue[Signer]:
    given = await machine(own, context.now)
    leaf = await context.compute(lambda work: jwt.private_key(given.key.raw, work))
    certificates = _certificates(given.certificate)
    tenancy = _tenancy(certificates)
    if leaf is None or not tenancy:
        raise Malformed(
            "the metadata server gives the machine no identity", hint="is it one of Oracle Cloud's machines?"
        )
    key = await context.compute(_new_key)
    document = {
        "certificate": _inner(_pem(certificates[0])),
        "publicKey": _inner(_public(key)),
        "intermediateCertificates": [_inner(_pem(each)) for each in _certificates(given.intermediate)],
        "fingerprintAlgorithm": "SHA256",
    }
    body = json_body(document)
    login = f"{ADDRESSES.get('OCI_VAULTS_ENDPOINT') or given.login}/v1/x509"
    signer = Signer(f"{tenancy}/fed-x509-sha256/{_fingerprint(certificates[0])}", leaf)
    answer = await http.request(
        "POST",
        login,
        doing="logging in to Oracle as the machine",
        headers=signature(signer, "POST", "/v1/x509", "", body.content, context.now),
        body=body,
    )
    return _session(answer.decode(_Token).token, key)


async def _workload(spec: OracleSpec, own: OwnIdentity, context: OpenContext) -> ExpiringValue[Signer]:
    account = spec.service_account_ref
    token: SecretBytes | None = None
    if account is not None:
        issued = await context.credentials.account_token(
            account.name,
            audiences=(_AUDIENCE, *(account.audiences or ())),
            seconds=_SECONDS,
            namespace=account.namespace,
        )
        token = issued.token
    key = await context.compute(_new_key)
    return _session(await workload_session(own, token, _public(key), context.now), key)


def _session(token: str, key: "RSAPrivateKey") -> ExpiringValue[Signer]:
    return ExpiringValue(Signer(f"ST${token}", key), float(jwt.expiry(token)))


def _new_key(work: Work) -> "RSAPrivateKey":
    from cryptography.hazmat.primitives.asymmetric import rsa

    work.step(_KEY_COST)
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _public(key: "RSAPrivateKey") -> str:
    """In PEM."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def _pem(certificate: "x509.Certificate") -> str:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM).decode()


def _inner(pem: str) -> str:
    """The text between the lines that begin and end a PEM document."""
    return "".join(line for line in pem.splitlines() if not line.startswith("-----"))


def _certificates(pem: bytes) -> "Sequence[x509.Certificate]":
    from cryptography.x509 import load_pem_x509_certificates

    try:
        return load_pem_x509_certificates(pem)
    except ValueError:
        return ()


def _tenancy(certificates: "Sequence[x509.Certificate]") -> str:
    """The OCID in the subject of the first one; empty if there is none."""
    values = [str(each.value) for some in certificates[:1] for each in some.subject]
    return next((each.removeprefix(_TENANT) for each in values if each.startswith(_TENANT)), "")


def _fingerprint(certificate: "x509.Certificate") -> str:
    from cryptography.hazmat.primitives.hashes import SHA256

    return ":".join(textwrap.wrap(certificate.fingerprint(SHA256()).hex(), 2))
