"""Akeyless' auth methods of clouds, each as strict with a `cloud-id` as the cloud that is asked about it.

Written from the forms in https://github.com/akeylesslabs/akeyless-go-cloud-id.
"""

import importlib
import json
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

from tests.support.jwts import BadToken, private_key, verified
from tests.support.servers.azure.directory import MANAGEMENT, Directory

_STS = re.compile(r"https://sts(?:\.([a-z0-9-]+))?\.amazonaws\.com(?:\.cn)?/")
_SIGNATURE = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(\w+)/(\d{8})/([a-z0-9-]+)/sts/aws4_request, "
    r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})"
)
_MINUTES = 15 * 60


class CloudMethod(Protocol):
    """An auth method of one access type."""

    @property
    def kind(self) -> str: ...

    def refusal(self, cloud_id: bytes) -> str:
        """Why it does not accept this, which was in base64; empty: it does."""
        ...


@dataclass
class AwsIam:
    """Forwards the request to AWS, which computes the signature again and knows who signs so."""

    now: Callable[[], float]
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """Secret keys by access key."""
    tokens: Mapping[str, str] = field(default_factory=dict[str, str])
    """Session tokens by access key."""
    kind: str = "aws_iam"
    seen: list[tuple[str, str, dict[str, str]]] = field(default_factory=list[tuple[str, str, dict[str, str]]])
    """URL, body and headers of each request that was accepted."""

    def refusal(self, cloud_id: bytes) -> str:
        document: dict[str, str] = json.loads(cloud_id)
        parts = {"url", "body", "headers"}
        if document.keys() != {f"sts_request_{name}" for name in (*parts, "method")}:
            return "other members"
        url, body, text = (
            b64decode(document[f"sts_request_{name}"], validate=True).decode()
            for name in ("url", "body", "headers")
        )
        given: dict[str, list[str]] = json.loads(text)
        headers = {name: value for name, [value] in given.items()}
        region = _STS.fullmatch(url)
        if document["sts_request_method"] != "POST" or region is None:
            return "no request to AWS"
        if body != "Action=GetCallerIdentity&Version=2011-06-15":
            return "another action"
        if not self._is_signed(url, body, headers, region[1] or "us-east-1"):
            return "SignatureDoesNotMatch"
        self.seen.append((url, body, headers))
        return ""

    def _is_signed(self, url: str, body: str, headers: Mapping[str, str], region: str) -> bool:
        """Whether the signature is the one that botocore computes for the request as it reaches AWS."""
        auth: Any = importlib.import_module("botocore.auth")
        aws: Any = importlib.import_module("botocore.awsrequest")
        credentials: Any = importlib.import_module("botocore.credentials")
        sent = {name.lower(): value for name, value in headers.items()}
        sent |= {"host": urlsplit(url).netloc, "content-length": str(len(body))}
        told = _SIGNATURE.fullmatch(sent["authorization"])
        if told is None or told[3] != region or told[1] not in self.secrets:
            return False
        moment = sent["x-amz-date"]
        at = datetime.strptime(moment, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
        if abs(at - self.now()) > _MINUTES or not moment.startswith(told[2]):
            return False
        names = told[4].split(";")
        needed = {"host", *(name for name in sent if name.startswith("x-amz-"))}
        if sent.get("x-amz-security-token", "") != self.tokens.get(told[1], "") or not needed <= set(names):
            return False
        again = aws.AWSRequest("POST", url, headers={name: sent[name] for name in names}, data=body)
        again.context["timestamp"] = moment
        signer = auth.SigV4Auth(credentials.Credentials(told[1], self.secrets[told[1]]), "sts", region)
        computed = signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again)
        return bool(computed == told[5])


@dataclass
class AzureAd:
    """Takes a token of Microsoft Entra ID for the resource manager, of one identity."""

    directory: Directory
    client: str
    resource: str = MANAGEMENT
    kind: str = "azure_ad"
    audiences: list[str] = field(default_factory=list[str])
    """Of each token that was accepted."""

    def refusal(self, cloud_id: bytes) -> str:
        token = self.directory.tokens.get(cloud_id.decode("ascii"))
        if token is None or token.expires <= self.directory.now():
            return "no token of this directory, or an old one"
        if token.audience not in {self.resource, f"{self.resource}/"}:
            return "a token for another service"
        if token.client != self.client:
            return "a token of another identity"
        self.audiences.append(token.audience)
        return ""


@dataclass
class Gcp:
    """Takes a token that Google signed, of one service account and for one audience."""

    now: Callable[[], float]
    email: str
    audience: str = "akeyless.io"
    kind: str = "gcp"

    def refusal(self, cloud_id: bytes) -> str:
        key = private_key("google").public_key()
        try:
            claims = verified(cloud_id.decode("ascii"), {"google": key}.get, now=self.now())
        except BadToken as error:
            return str(error)
        if claims["aud"] != self.audience:
            return "a token for another audience"
        return "" if claims.get("email") == self.email else "a token of another account"
