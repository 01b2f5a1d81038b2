"""Decrypts with an RSA private key: rsaDecrypt."""

from typing import Final

from syncret.daemon.core.templating.errors import FunctionError
from syncret.daemon.core.templating.functions import pem
from syncret.daemon.core.templating.functions.contract import FunctionTable, table
from syncret.daemon.core.templating.functions.keys import key_from_der
from syncret.daemon.core.templating.values import bytes_of, text_of


def rsa_decrypt(scheme: str, digest: str, text: str, private_key: str) -> str:
    """RSA-OAEP with SHA1, SHA256 or SHA512; the scheme None hands the text on. Unknown digests are SHA256."""
    if scheme == "None":
        return text
    if scheme != "RSA-OAEP":
        raise FunctionError("the decryption scheme is not supported")
    block, _ = pem.decode(bytes_of(private_key))
    if block is None:
        raise FunctionError("failed to decode PEM block")
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    key = key_from_der(block.data)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise FunctionError("could not parse RSA private key")
    algorithm = {"SHA1": hashes.SHA1, "SHA512": hashes.SHA512}.get(digest, hashes.SHA256)()
    try:
        decrypted = key.decrypt(
            bytes_of(text), padding.OAEP(padding.MGF1(algorithm), algorithm=algorithm, label=None)
        )
    except ValueError:
        raise FunctionError("error decrypting data with RSA") from None
    return text_of(decrypted)


FUNCTIONS: Final[FunctionTable] = table({"rsaDecrypt": rsa_decrypt})
