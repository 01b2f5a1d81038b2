"""AWS's STS for tests: roles with trust policies that are kept, and web identities that are verified."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any, Final

from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from tests.support.servers.aws import Call, Fault, Gateway, Person, refusal_of_sts

ISSUER: Final = "https://oidc.eks.eu-west-1.amazonaws.com/id/TEST"


@dataclass(frozen=True)
class Trust:
    """Who may take on a role, and what they must say then."""

    principals: tuple[str, ...] = ()
    """ARNs; a session of a role has the role's ARN here."""
    external_id: str = ""
    subjects: tuple[str, ...] = ()
    """Of web identities: `system:serviceaccount:ns:name`."""
    audience: str = "sts.amazonaws.com"
    tags: bool = True
    """Whether a session may be tagged."""


class Issuer:
    """Issues tokens of ServiceAccounts, as the API server of a cluster does."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(65537, 2048)

    def token(self, subject: str, *audiences: str, expires: float, issuer: str = ISSUER) -> bytes:
        claims = {"iss": issuer, "sub": subject, "aud": list(audiences), "exp": expires}
        signed = b".".join(map(_encoded, ({"alg": "RS256", "typ": "JWT"}, claims)))
        signature = self._key.sign(signed, padding.PKCS1v15(), SHA256())
        return signed + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")

    def claims(self, token: str) -> dict[str, Any] | None:
        """The claims of a token that this issuer has signed."""
        signed, _, signature = token.rpartition(".")
        try:
            self._key.public_key().verify(_decoded(signature), signed.encode(), padding.PKCS1v15(), SHA256())
        except InvalidSignature:
            return None
        found: dict[str, Any] = json.loads(_decoded(signed.partition(".")[2]))
        return found


@dataclass
class Sts:
    """Answers for STS behind a gateway, which has verified the signatures."""

    gate: Gateway
    roles: dict[str, Trust] = field(default_factory=dict[str, Trust])
    issuer: Issuer = field(default_factory=Issuer)
    lifetime: float = 3600.0
    issued: list[Person] = field(default_factory=list[Person])
    said: list[Mapping[str, str]] = field(default_factory=list[Mapping[str, str]])
    """The parameters of every call that was granted."""

    def __post_init__(self) -> None:
        self.gate.sts = self.answer
        self._numbers = count(1)

    def answer(self, call: Call, person: Person | None) -> web.Response:
        match call.operation:
            case "AssumeRole":
                refused = self._refused(call, person)
            case "AssumeRoleWithWebIdentity":
                refused = self._distrusted(call)
            case "GetSessionToken":
                refused = (
                    None if person and not person.token else Fault(403, "AccessDenied", "a session asks")
                )
            case _:
                refused = Fault(400, "InvalidAction", call.operation)
        if refused is not None:
            return refusal_of_sts(refused)
        self.said.append(call.parameters)
        arn = call.parameters.get("RoleArn") or (person.arn if person else "")
        return self._granted(call, str(arn))

    def _refused(self, call: Call, person: Person | None) -> Fault | None:
        trust = self.roles.get(call.parameters.get("RoleArn", ""), Trust())
        denied = Fault(403, "AccessDenied", f"{person} is not authorized to perform sts:AssumeRole")
        if person is None or person.arn not in trust.principals:
            return denied
        if trust.external_id != call.parameters.get("ExternalId", ""):
            return denied
        return denied if _members(call, "Tags") and not trust.tags else None

    def _distrusted(self, call: Call) -> Fault | None:
        claims = self.issuer.claims(call.parameters.get("WebIdentityToken", ""))
        trust = self.roles.get(call.parameters.get("RoleArn", ""), Trust())
        if call.key:
            return Fault(400, "ValidationError", "this call is not signed")
        if claims is None or claims["iss"] != ISSUER:
            return Fault(400, "InvalidIdentityToken", "the token is not one of the provider's")
        if claims["exp"] <= self.gate.now():
            return Fault(400, "ExpiredTokenException", "the token has expired")
        if trust.audience not in claims["aud"]:
            return Fault(400, "InvalidIdentityToken", "incorrect token audience")
        return None if claims["sub"] in trust.subjects else Fault(403, "AccessDenied", "not authorized")

    def _granted(self, call: Call, arn: str) -> web.Response:
        number = next(self._numbers)
        key, expires = f"ASIATEMPORARY{number:07}", self.gate.now() + self.lifetime
        tags = {pair["Key"]: pair["Value"] for pair in _members(call, "Tags")}
        person = Person(arn, f"temporary-secret-{number}-f31a", f"session-token-{number}-77be", expires, tags)
        self.gate.people[key] = person
        self.issued.append(person)
        end = datetime.fromtimestamp(expires, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        credentials = (
            f"<Credentials><AccessKeyId>{key}</AccessKeyId><SecretAccessKey>{person.secret}</SecretAccessKey>"
            f"<SessionToken>{person.token}</SessionToken><Expiration>{end}</Expiration></Credentials>"
        )
        name = call.operation
        space = "https://sts.amazonaws.com/doc/2011-06-15/"
        text = f'<{name}Response xmlns="{space}"><{name}Result>{credentials}</{name}Result></{name}Response>'
        return web.Response(text=text, content_type="text/xml")


def _members(call: Call, name: str) -> list[dict[str, str]]:
    """A list of objects in a form: `Tags.member.1.Key=...`."""
    found: dict[str, dict[str, str]] = {}
    for key, value in call.parameters.items():
        if key.startswith(f"{name}.member."):
            number, _, attribute = key.removeprefix(f"{name}.member.").partition(".")
            found.setdefault(number, {})[attribute] = value
    return list(found.values())


def _encoded(document: object) -> bytes:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).rstrip(b"=")


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
