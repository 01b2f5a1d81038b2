"""The certificate of an application, which signs its assertions."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from syncret.config.fields import Json
from syncret.providers.errors import Malformed
from syncret.providers.kit import private_keys
from syncret.providers.kit.auth import jwt
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

if TYPE_CHECKING:  # slow to import
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.x509 import Certificate

_PEM: Final = b"-----BEGIN"


class ClientCertificate:
    """A certificate with its RSA key: PEM blocks in any order, or PKCS#12.

    Raises Malformed if it is neither; `place` says where it was read. `password`: that of the PKCS#12.
    """

    def __init__(
        self, document: SecretBytes, place: str, work: Work, *, password: SecretBytes | None = None
    ) -> None:
        if _PEM in document.raw:
            found = _pem(document.raw, work)
        else:
            found = _pkcs12(document.raw, None if password is None else password.raw, work)
        if found is None:
            secured = "without a password" if password is None else "with that password"
            raise Malformed(
                f"{place} holds no certificate with its RSA key",
                hint=f"store both as PEM blocks, or as PKCS#12 {secured}",
            )
        self._certificate, self._key = found

    def signed(self, claims: Mapping[str, Json], *, legacy: bool = False) -> str:
        """A JWT with these claims; a legacy one for AD FS, which supports older algorithms only."""
        from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS, PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA1, SHA256

        if legacy:
            thumbprint = jwt.encoded(self._certificate.fingerprint(SHA1()))  # noqa: S303  # names the certificate
            header: Mapping[str, Json] = {"alg": "RS256", "typ": "JWT", "x5t": thumbprint}
            padding: PKCS1v15 | PSS = PKCS1v15()
        else:
            thumbprint = jwt.encoded(self._certificate.fingerprint(SHA256()))
            header = {"alg": "PS256", "typ": "JWT", "x5t#S256": thumbprint}
            padding = PSS(MGF1(SHA256()), PSS.DIGEST_LENGTH)
        content = jwt.unsigned(header, claims)
        return f"{content}.{jwt.encoded(self._key.sign(content.encode(), padding, SHA256()))}"


def _pem(document: bytes, work: Work) -> "tuple[Certificate, RSAPrivateKey] | None":
    """The key, and the certificate that belongs to it; other certificates are those of CAs."""
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.x509 import load_pem_x509_certificates

    try:
        certificates = load_pem_x509_certificates(document)
    except ValueError:
        return None
    key = private_keys.from_pem(_key_block(document), work)
    if not isinstance(key, RSAPrivateKey):
        return None
    for certificate in certificates:
        if certificate.public_key() == key.public_key():
            return certificate, key
    return None


def _key_block(document: bytes) -> bytes:
    """The one block that is no certificate: `load_pem_private_key` tries the first block only."""
    for block in document.split(_PEM)[1:]:
        if b"PRIVATE KEY-----" in block.split(b"\n", 1)[0]:
            return _PEM + block
    return b""


def _pkcs12(
    document: bytes, password: bytes | None, work: Work
) -> "tuple[Certificate, RSAPrivateKey] | None":
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    found = private_keys.from_pkcs12(document, password, work)
    if found is None or found.own is None or not isinstance(found.key, RSAPrivateKey):
        return None
    return found.own, found.key
