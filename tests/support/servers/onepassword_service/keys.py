"""The cryptography of a 1Password account: SRP as it speaks it, JSON Web Keys, and what they encrypt.

https://1passwordstatic.com/files/security/1password-white-paper.pdf
"""

import hmac
import json
from base64 import b32encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from secrets import randbits, token_bytes
from typing import Any, Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

N: Final = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F"
    "83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B"
    "E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF6955817183995497CEA956AE515D2261898FA0510"
    "15728E5A8AAAC42DAD33170D04507A33A85521ABDF1CBA64ECFB850458DBEF0A8AEA71575D060C7DB3970F85A6E1E4C7"
    "ABF5AE8CDB0933D71E8C94E04A25619DCEE3D2261AD2EE6BF12FFA06D98A0864D87602733EC86A64521F2B18177B200C"
    "BBE117577A615D6C770988C0BAD946E208E24FA074E5AB3143DB5BFCE0FD108E4B82D120A92108011A723C12A787E6D7"
    "88719A10BDBA5B2699C327186AF4E23C1A946834B6150BDA2583E9CA2AD44CE8DBBBC2DB04DE8EF92E8EFC141FBECAA6"
    "287C59474E6BC05D99B2964FA090C3A2233BA186515BE7ED1F612970CEE2D7AFB81BDD762170481CD0069127D5B05AA9"
    "93B4EA988D8FDDC186FFB7DC90A6C08F4DF435C934063199FFFFFFFFFFFFFFFF",
    16,
)
"""The prime of 4,096 bits of RFC 3526."""
G: Final = 5
_SIZE: Final = 512

_MAC: Final = b"He never wears a Mac, in the pouring rain. Very strange."
"""What the protocol derives the key of signatures from."""

Jwe = dict[str, Any]
"""Something encrypted, as JSON."""


def new_id() -> str:
    """An ID of 1Password's: 128 bits in base32."""
    return b32encode(token_bytes(16)).decode().rstrip("=").lower()


def encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "==")


def digest(*parts: bytes) -> bytes:
    return sha256(b"".join(parts)).digest()


def _bytes(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


class Exchange:
    """The server's half of one SRP exchange: both prove that they know a secret, and agree on a key."""

    def __init__(self, secret: bytes, client_a: int, session: str = "") -> None:
        """With a session it is the exchange of older clients, which mix that in and have no proofs."""
        verifier = pow(G, int.from_bytes(secret, "big"), N)
        multiplier = session.encode() or digest(_bytes(N), G.to_bytes(_SIZE, "big"))
        own = randbits(256)
        self.a = client_a
        self.b = (int.from_bytes(multiplier, "big") * verifier + pow(G, own, N)) % N
        mixed = self._mixed_texts() if session else self._mixed()
        agreed = pow(self.a * pow(verifier, mixed, N) % N, own, N)
        self.key = digest(f"{agreed:x}".encode())

    def _mixed(self) -> int:
        return int.from_bytes(digest(self.a.to_bytes(_SIZE, "big"), self.b.to_bytes(_SIZE, "big")), "big")

    def _mixed_texts(self) -> int:
        return int.from_bytes(digest(f"{self.a:x}{self.b:x}".encode()), "big")

    def client_proof(self, email: str, key_id: str, salt: bytes) -> bytes:
        """What a client sends that agreed on the same key."""
        group = bytes(one ^ two for one, two in zip(digest(_bytes(N)), digest(_bytes(G)), strict=True))
        identity = encoded(digest(digest(key_id.encode()), digest(email.encode())))
        return digest(group, digest(identity.encode()), salt, _bytes(self.a), _bytes(self.b), self.key)

    def server_proof(self, client_proof: bytes) -> bytes:
        """What the client checks in turn."""
        return digest(_bytes(self.a), client_proof, self.key)


def older_proofs(key_id: str, session: str) -> tuple[str, str]:
    """What older clients send to prove that they have the session, and what they check in turn."""
    own = encoded(digest(digest(key_id.encode()), digest(session.encode())))
    return own, encoded(digest(digest(session.encode()), digest(own.encode())))


def signature(key: bytes, session: str, method: str, place: str, number: str) -> str:
    """The signature of a request, `place` being its host, path and query."""
    derived = hmac.digest(key, _MAC, "sha256")
    message = f"{session}|{method}|{place}|v1|{number}"
    return encoded(hmac.digest(derived, message.encode(), "sha256")[:12])


class Key:
    """A symmetric key with an ID."""

    def __init__(self, id_: str, secret: bytes | None = None) -> None:
        self.id = id_
        self.secret = secret or token_bytes(32)

    def seal(self, value: object, **more: object) -> Jwe:
        start = token_bytes(12)
        data = AESGCM(self.secret).encrypt(start, json.dumps(value).encode(), None)
        head = {"kid": self.id, "enc": "A256GCM", "cty": "b5+jwk+json"}
        return {**head, "iv": encoded(start), "data": encoded(data), **more}

    def open(self, sealed: Mapping[str, Any]) -> Any:  # noqa: ANN401  # JSON
        return json.loads(AESGCM(self.secret).decrypt(decoded(sealed["iv"]), decoded(sealed["data"]), None))

    @property
    def jwk(self) -> dict[str, Any]:
        """The key itself."""
        about = {"alg": "A256GCM", "ext": True, "key_ops": ["encrypt", "decrypt"], "kty": "oct"}
        return {**about, "k": encoded(self.secret), "kid": self.id}


class KeySet:
    """The keys of who has an account: one to encrypt for them, one that they sign with."""

    def __init__(self) -> None:
        self.key = Key(new_id())
        self._private = rsa.generate_private_key(65537, 2048)
        self._signing = ec.generate_private_key(ec.SECP256R1())

    def seal(self, value: object) -> Jwe:
        """Encrypted for them."""
        oaep = padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)  # noqa: S303  # as the protocol has it
        data = self._private.public_key().encrypt(json.dumps(value).encode(), oaep)
        return {"cty": "b5+jwk+json", "enc": "RSA-OAEP", "kid": self.key.id, "data": encoded(data)}

    def sealed_with(self, unlock: Key, salt: bytes) -> dict[str, Any]:
        """The set as the server keeps it, all that is private being encrypted."""
        public, private = self._rsa()
        verifying, signing = self._ec()
        derived = {"alg": "PBES2g-HS256", "p2c": 650000, "p2s": encoded(salt)}
        return {
            "uuid": self.key.id,
            "encryptedBy": unlock.id,
            "sn": 1,
            "encSymKey": unlock.seal(self.key.jwk, **derived),
            "pubKey": public,
            "encPriKey": self.key.seal(private),
            "spubKey": verifying,
            "encSPriKey": self.key.seal(signing),
        }

    def _rsa(self) -> tuple[dict[str, Any], dict[str, Any]]:
        held = self._private.private_numbers()
        about = {"alg": "RSA-OAEP", "ext": True, "kty": "RSA", "kid": self.key.id}
        numbers = {"n": held.public_numbers.n, "e": held.public_numbers.e}
        secrets = {"d": held.d, "p": held.p, "q": held.q, "dp": held.dmp1, "dq": held.dmq1, "qi": held.iqmp}
        public = {**about, **{name: encoded(_bytes(number)) for name, number in numbers.items()}}
        private = {name: encoded(_bytes(number)) for name, number in secrets.items()}
        return {**public, "key_ops": ["encrypt"]}, {**public, **private, "key_ops": ["decrypt"]}

    def _ec(self) -> tuple[dict[str, Any], dict[str, Any]]:
        held = self._signing.private_numbers()
        about = {"alg": "ES256", "crv": "P-256", "ext": True, "kty": "EC", "kid": self.key.id}
        point = {"x": held.public_numbers.x, "y": held.public_numbers.y}
        public = {**about, **{name: encoded(number.to_bytes(32, "big")) for name, number in point.items()}}
        private = {**public, "d": encoded(held.private_value.to_bytes(32, "big"))}
        return {**public, "key_ops": ["verify"]}, {**private, "key_ops": ["sign"]}
