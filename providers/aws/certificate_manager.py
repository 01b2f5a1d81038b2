"""AWS Certificate Manager: exports certificates with their keys by ARN, imports whole TLS Secrets."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from secrets import choice
from string import ascii_letters, digits
from typing import Final

from syncret.providers.aws.api import Api
from syncret.providers.aws.batches import each
from syncret.providers.aws.service import Service
from syncret.providers.contract import RemoteKey, RemoteRef, SecretBytes, SecretMap, Writer
from syncret.providers.errors import Malformed, SyncError

UNSUPPORTED: Final = "operation not supported by AWS Certificate Manager provider"

_PASSPHRASE: Final = 32
_KEPT: Final = 128
"""Exports that are remembered: each may cost money, and whether one is still right is asked for free."""


class CertificateManagerClient(Service):
    """Reads, writes and probes. A value is the certificate, its chain and its key, as PEM."""

    def __init__(
        self, api: Api, writer: Writer, *, prefix: str, login: Callable[[], Awaitable[object]]
    ) -> None:
        super().__init__(api, writer, prefix=prefix, login=login)
        self._exports: dict[str, tuple[tuple[str, str], SecretBytes]] = {}

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        found = await each(dict.fromkeys(key.key for key in keys), self._exported)
        return {key: found[key.key] for key in keys if key.key in found}

    def value(self, payload: SecretBytes, ref: RemoteRef) -> SecretBytes | None:
        """The whole, whatever the property: a certificate has none."""
        del ref
        return payload

    def fields(self, payload: SecretBytes, ref: RemoteRef) -> SecretMap | None:
        del payload, ref
        raise Malformed(UNSUPPORTED, hint="read a certificate with data, not with dataFrom.extract")

    async def _exported(self, arn: str) -> SecretBytes:
        public = await self._api.call("get_certificate", CertificateArn=arn)
        fingerprint = (public.get("Certificate", ""), public.get("CertificateChain", ""))
        known = self._exports.get(arn)
        if known is not None and known[0] == fingerprint:
            return known[1]
        detail = (await self._api.call("describe_certificate", CertificateArn=arn)).get("Certificate", {})
        if detail.get("Options", {}).get("Export") != "ENABLED" and detail.get("Type") != "PRIVATE":
            raise Malformed(
                "the certificate is not exportable (Options.Export is not ENABLED)",
                hint="request one that is: whether it may be exported is decided then",
            )
        passphrase = "".join(choice(ascii_letters + digits) for _ in range(_PASSPHRASE)).encode()
        answer = await self._api.call("export_certificate", CertificateArn=arn, Passphrase=passphrase)
        parts = [answer.get("Certificate", ""), answer.get("CertificateChain", "")]
        if answer.get("PrivateKey"):
            parts.append(_decrypted(answer["PrivateKey"], passphrase))
        value = SecretBytes("".join(f"{part.rstrip()}\n" for part in parts if part).encode())
        if len(self._exports) >= _KEPT:
            self._exports.pop(next(iter(self._exports)))
        self._exports[arn] = fingerprint, value
        return value


def _decrypted(pem: str, passphrase: bytes) -> str:
    from cryptography.hazmat.primitives import serialization  # brings in much that no other service needs

    try:
        key = serialization.load_pem_private_key(pem.encode(), passphrase if "ENCRYPTED" in pem else None)
    except (ValueError, TypeError):
        key = None
    if key is None:
        raise Malformed("the exported private key cannot be read")
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
