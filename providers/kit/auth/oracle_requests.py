"""Signatures of requests to Oracle's cloud: draft-cavage-http-signatures-08, as Oracle has it.

https://docs.oracle.com/en-us/iaas/Content/API/Concepts/signingrequests.htm
"""

import hashlib
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # slow to import
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Signer:
    """The ID of a principal, and its key. The ID of a session is its token."""

    id: str = field(repr=False)
    key: "RSAPrivateKey" = field(repr=False)


def signature(
    signer: Signer, method: str, path: str, host: str, content: bytes, now: Callable[[], float]
) -> Mapping[str, str]:
    """The headers of a signed request. A login signs no host."""
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.hashes import SHA256

    signed = {"date": formatdate(now(), usegmt=True), "(request-target)": f"{method.lower()} {path}"}
    if host:
        signed["host"] = host
    if method != "GET":
        signed |= {
            "content-length": str(len(content)),
            "content-type": _JSON,
            "x-content-sha256": b64encode(hashlib.sha256(content).digest()).decode(),
        }
    text = "\n".join(f"{name}: {value}" for name, value in signed.items())
    proof = b64encode(signer.key.sign(text.encode(), PKCS1v15(), SHA256())).decode()
    sent = {name: value for name, value in signed.items() if name in {"date", "x-content-sha256"}}
    return {
        **sent,
        "Authorization": f'Signature version="1",keyId="{signer.id}",algorithm="rsa-sha256",'
        f'headers="{" ".join(signed)}",signature="{proof}"',
    }
