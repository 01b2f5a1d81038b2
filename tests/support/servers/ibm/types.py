"""What each type of secret is made of: the fields a caller gives, and those that Secrets Manager makes."""

import secrets as chance
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.support.servers.ibm.errors import IbmError
from tests.support.servers.ibm.secrets import LARGEST, Shown, timestamp
from tests.support.tls import Authority

COMMON = {"name", "secret_type", "secret_group_id", "description", "labels", "custom_metadata"}
NO_ROTATION = {"auto_rotate": False}


class Made:
    """The parts of a new version: its data, and what is told of them; `config` is for the secret itself."""

    def __init__(self, data: Shown, beside: Shown | None = None, config: Shown | None = None) -> None:
        self.data = data
        self.beside = beside or {}
        self.config = config or {}


class Types:
    """Makes secrets of every type. Certificates are issued at once, by an authority of its own."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.configurations = {"letsencrypt", "cis", "template", "job"}
        """The names of the configurations that secrets may refer to."""
        self.job: Callable[[Shown], Shown] = lambda parameters: {"token": "job-made", **parameters}
        """The Code Engine job that makes custom credentials."""
        self._now = now
        self._authority = Authority("IBM test authority")
        self._makers: dict[str, Callable[[Shown], Made]] = {
            "arbitrary": self._arbitrary,
            "username_password": self._username_password,
            "iam_credentials": self._iam_credentials,
            "service_credentials": self._service_credentials,
            "imported_cert": self._imported_cert,
            "public_cert": self._public_cert,
            "private_cert": self._private_cert,
            "kv": self._kv,
            "custom_credentials": self._custom_credentials,
        }

    def made(self, kind: str, body: Shown) -> Made:
        """A version of what the body asks. Raises IbmError."""
        if kind not in self._makers:
            raise IbmError("bad_request", f"The secret type '{kind}' is not supported.")
        return self._makers[kind](body)

    def renewed(self, kind: str, config: Shown, before: Shown, body: Shown) -> Made:
        """The next version: what the caller gives, else made anew as the secret is configured."""
        if kind == "username_password":
            return self.made(kind, {"username": before["username"], **body})
        made = self.made(kind, {**config, **body})
        return Made(made.data, made.beside)

    def _arbitrary(self, body: Shown) -> Made:
        payload = _text(body, "payload")
        if len(payload.encode()) > LARGEST:
            raise IbmError("bad_request", "The payload is too large.")
        return Made({"payload": payload}, _kept(body, "expiration_date"))

    def _username_password(self, body: Shown) -> Made:
        password = body.get("password") or chance.token_urlsafe(24)
        config = {"rotation": body.get("rotation") or dict(NO_ROTATION)}
        beside = _kept(body, "expiration_date")
        return Made({"username": _text(body, "username"), "password": password}, beside, config)

    def _iam_credentials(self, body: Shown) -> Made:
        if not isinstance(body.get("reuse_api_key"), bool):
            raise IbmError("bad_request", "'reuse_api_key' is required.")
        service = body.get("service_id") or f"ServiceId-{chance.token_hex(8)}"
        key = {"api_key": chance.token_urlsafe(33)}
        beside = {"api_key_id": f"ApiKey-{chance.token_hex(8)}", "service_id": service}
        config = {
            "ttl": _text(body, "ttl"),
            "reuse_api_key": body["reuse_api_key"],
            "service_id_is_static": bool(body.get("service_id")),
            "rotation": body.get("rotation") or dict(NO_ROTATION),
            **_kept(body, "access_groups"),
        }
        return Made(key, beside, config)

    def _service_credentials(self, body: Shown) -> Made:
        source: Shown = body.get("source_service") or {}
        if not source.get("instance", {}).get("crn"):
            raise IbmError("bad_request", "'source_service.instance.crn' is required.")
        service = f"crn:v1:bluemix:public:iam-identity::a/acme::serviceid:{chance.token_hex(4)}"
        credentials: Shown = {
            "apikey": chance.token_urlsafe(33),
            "iam_apikey_name": body.get("name", ""),
            "iam_role_crn": source.get("role", {}).get("crn", "crn:v1:bluemix:public:iam::::role:Reader"),
            "iam_serviceid_crn": service,
            "resource_instance_id": source["instance"]["crn"],
        }
        config = {"source_service": source, "rotation": body.get("rotation") or dict(NO_ROTATION)}
        return Made({"credentials": credentials}, None, {**config, **_kept(body, "ttl")})

    def _imported_cert(self, body: Shown) -> Made:
        parts = {
            part: _text(body, part)
            for part in ("certificate", "intermediate", "private_key")
            if body.get(part)
        }
        if "certificate" not in parts:
            raise IbmError("bad_request", "'certificate' is required.")
        beside = _described(parts["certificate"])
        beside["intermediate_included"] = "intermediate" in parts
        beside["private_key_included"] = "private_key" in parts
        return Made(parts, beside)

    def _public_cert(self, body: Shown) -> Made:
        self._configured(body, "ca", "dns")
        certificate, key = self._issued(_text(body, "common_name"))
        data = {"certificate": certificate, "intermediate": self._authority.pem.decode(), "private_key": key}
        config = {
            **_kept(body, "ca", "dns", "common_name"),
            "bundle_certs": body.get("bundle_certs", True),
            "rotation": body.get("rotation") or dict(NO_ROTATION),
            "issuance_info": {"auto_rotated": False, "ordered_on": timestamp(self._now()), "state": 1},
        }
        return Made(data, _described(certificate), config)

    def _private_cert(self, body: Shown) -> Made:
        self._configured(body, "certificate_template")
        certificate, key = self._issued(_text(body, "common_name"))
        authority = self._authority.pem.decode()
        data = {
            "certificate": certificate,
            "private_key": key,
            "issuing_ca": authority,
            "ca_chain": [authority],
        }
        config = {
            **_kept(body, "certificate_template", "common_name"),
            "certificate_authority": "test-authority",
            "rotation": body.get("rotation") or dict(NO_ROTATION),
        }
        return Made(data, _described(certificate), config)

    def _kv(self, body: Shown) -> Made:
        if not isinstance(body.get("data"), dict):
            raise IbmError("bad_request", "'data' must be a JSON object.")
        return Made({"data": body["data"]})

    def _custom_credentials(self, body: Shown) -> Made:
        self._configured(body, "configuration")
        parameters: Shown = body.get("parameters") or {}
        config = {**_kept(body, "configuration", "parameters", "ttl"), "task_count": 1}
        return Made({"credentials_content": self.job(parameters)}, None, config)

    def _configured(self, body: Shown, *names: str) -> None:
        for name in names:
            if _text(body, name) not in self.configurations:
                raise IbmError("bad_request", f"The configuration of '{name}' was not found.")

    def _issued(self, name: str) -> tuple[str, str]:
        pair = self._authority.pair(name, days=90)
        return pair.certificate.decode(), pair.key.decode()


def self_signed(name: str) -> tuple[str, str]:
    """A certificate and its key, as somebody would import them."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(subject)
    builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
    certificate = (
        builder.not_valid_before(now).not_valid_after(now + timedelta(days=1)).sign(key, hashes.SHA256())
    )
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode(), text.decode()


def _described(pem: str) -> Shown:
    """What is told of a certificate."""
    try:
        certificate = x509.load_pem_x509_certificate(pem.encode())
    except ValueError:
        raise IbmError("bad_request", "The certificate is not valid PEM.") from None
    after = certificate.not_valid_after_utc.timestamp()
    return {
        "signing_algorithm": "SHA256-ECDSA",
        "key_algorithm": "EC256",
        "common_name": certificate.subject.rfc4514_string().removeprefix("CN="),
        "issuer": certificate.issuer.rfc4514_string(),
        "serial_number": f"{certificate.serial_number:x}",
        "expiration_date": timestamp(after),
        "validity": {
            "not_before": timestamp(certificate.not_valid_before_utc.timestamp()),
            "not_after": timestamp(after),
        },
    }


def _kept(body: Shown, *names: str) -> Shown:
    return {name: body[name] for name in names if body.get(name) is not None}


def _text(body: Shown, name: str) -> str:
    value: Any = body.get(name)
    if not isinstance(value, str) or not value:
        raise IbmError("bad_request", f"'{name}' is required.")
    return value
