"""AWS's token service as far as logins need it: verifies signatures and web identities, hands out keys."""

import importlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from aiohttp import web

from tests.support.served import all_to, served

ACCOUNT = "123456789012"
_NAMES = "https://sts.amazonaws.com/doc/2011-06-15/"


@dataclass
class Sts:
    """Who is known: secret keys by access key, and the name each stands for."""

    url: str = ""
    secrets: dict[str, str] = field(default_factory=dict[str, str])
    identities: dict[str, str] = field(default_factory=dict[str, str])
    tokens: dict[str, str] = field(default_factory=dict[str, str])
    """Session tokens by access key."""
    roles: dict[str, str] = field(default_factory=dict[str, str])
    """Roles by web identity token."""
    asked: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def know(self, key: str, name: str, token: str = "") -> None:
        self.secrets[key], self.identities[key], self.tokens[key] = f"secret-of-{key}", name, token

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.text()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        self.asked.append(form)
        if form["Action"] == "AssumeRoleWithWebIdentity":
            if self.roles.get(form["WebIdentityToken"]) != form["RoleArn"]:
                return _refusal("AccessDenied")
            return self._keys(form["Action"], form["RoleArn"])
        key = self._signer(request, body)
        if key is None:
            return _refusal("SignatureDoesNotMatch")
        if form["Action"] == "AssumeRole":
            return self._keys(form["Action"], form["RoleArn"])
        arn, account = self.identities[key], f"<Account>{ACCOUNT}</Account>"
        return _answer(form["Action"], f"<Arn>{arn}</Arn><UserId>AIDA{key}:x</UserId>{account}")

    def _keys(self, action: str, role: str) -> web.Response:
        key = f"ASIA{len(self.secrets)}"
        self.know(
            key, f"arn:aws:sts::{ACCOUNT}:assumed-role/{role.rpartition('/')[2]}/session", f"token-{key}"
        )
        content = (
            f"<Credentials><AccessKeyId>{key}</AccessKeyId><SecretAccessKey>{self.secrets[key]}</SecretAccessKey>"
            f"<SessionToken>{self.tokens[key]}</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>"
            "</Credentials>"
        )
        return _answer(action, content)

    def _signer(self, request: web.Request, body: str) -> str | None:
        """Whose signature it bears, as botocore computes it; None where it is wrong."""
        auth: Any = importlib.import_module("botocore.auth")
        aws: Any = importlib.import_module("botocore.awsrequest")
        credentials: Any = importlib.import_module("botocore.credentials")
        parts = request.headers["Authorization"].replace(",", " ").split()
        told = dict(part.split("=", 1) for part in parts[1:])
        key, _, region, *_ = told["Credential"].split("/")
        if request.headers.get("X-Amz-Security-Token", "") != self.tokens.get(key, ""):
            return None
        signed = {name: request.headers[name] for name in told["SignedHeaders"].split(";")}
        host = request.headers["Host"]
        again = aws.AWSRequest("POST", f"https://{host}/", headers=signed, data=body)
        again.context["timestamp"] = request.headers["X-Amz-Date"]
        signer = auth.SigV4Auth(credentials.Credentials(key, self.secrets.get(key, "?")), "sts", region)
        text = signer.string_to_sign(again, signer.canonical_request(again))
        return key if signer.signature(text, again) == told["Signature"] else None


def _refusal(code: str) -> web.Response:
    error = f"<Error><Type>Sender</Type><Code>{code}</Code><Message>canary</Message></Error>"
    return web.Response(status=403, text=f"<ErrorResponse>{error}</ErrorResponse>", content_type="text/xml")


def _answer(action: str, content: str) -> web.Response:
    text = f'<{action}Response xmlns="{_NAMES}"><{action}Result>{content}</{action}Result></{action}Response>'
    return web.Response(body=text.encode(), headers={"Content-Type": "text/xml"})  # Vault wants just this


@asynccontextmanager
async def sts() -> AsyncGenerator[Sts, None]:
    """The service, knowing nobody yet."""
    made = Sts()
    async with served(all_to(made.handle)) as made.url:
        yield made
