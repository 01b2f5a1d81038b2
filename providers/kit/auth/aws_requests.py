"""Requests to AWS STS without the SDK: Signature Version 4 of a POST to `/`, and web identities (IRSA)."""

import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from syncret.config.fields import ServiceAccountSelector
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.values import SecretBytes

_ROLE: Final = "eks.amazonaws.com/role-arn"
_AUDIENCE: Final = "eks.amazonaws.com/audience"
_USUAL_AUDIENCE: Final = "sts.amazonaws.com"


REGION: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SUFFIXES: Final = {
    "cn-": "amazonaws.com.cn",
    "eusc-": "amazonaws.eu",
    "us-iso-": "c2s.ic.gov",
    "us-isob-": "sc2s.sgov.gov",
    "us-isof-": "csp.hci.ic.gov",
    "eu-isoe-": "cloud.adc-e.uk",
}
"""The domain of AWS's services in each partition, by how its regions begin."""


def endpoint(service: str, region: str) -> str:
    """The usual URL of a service in a region."""
    suffix = next((each for start, each in _SUFFIXES.items() if region.startswith(start)), "amazonaws.com")
    return f"https://{service}.{region}.{suffix}"


class WebIdentity(NamedTuple):
    """A role, and the ServiceAccount's token to assume it with."""

    role: str
    token: SecretBytes


async def web_identity(account: ServiceAccountSelector, context: OpenContext) -> WebIdentity:
    """The role that the ServiceAccount is annotated with, and a new token. Raises SyncError."""
    credentials = context.credentials
    annotations = await credentials.account_annotations(account.name, account.namespace)
    role = annotations.get(_ROLE)
    if not role:
        raise Malformed(
            f'an IAM role must be associated with service account "{account.name}"',
            hint=f"annotate it with {_ROLE}",
        )
    audiences = (annotations.get(_AUDIENCE) or _USUAL_AUDIENCE, *account.audiences)
    issued = await credentials.account_token(account.name, audiences=audiences, namespace=account.namespace)
    return WebIdentity(role, issued.token)


_ALGORITHM: Final = "AWS4-HMAC-SHA256"


def signed(
    url: str,
    body: str,
    headers: Mapping[str, str],
    *,
    access_key: str,
    secret_key: str,
    session_token: str,
    region: str,
    now: float,
) -> dict[str, str]:
    """The headers, including those of the signature."""
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    scope = f"{moment[:8]}/{region}/sts/aws4_request"
    target = urlsplit(url)
    query = urlencode(sorted(parse_qsl(target.query, keep_blank_values=True)), quote_via=quote, safe="~")
    sent = {**headers, "Host": target.netloc, "X-Amz-Date": moment}
    if session_token:
        sent["X-Amz-Security-Token"] = session_token
    lower = {name.lower(): value.strip() for name, value in sent.items()}
    names = ";".join(sorted(lower))
    canonical = "".join(f"{name}:{lower[name]}\n" for name in sorted(lower))
    request = "\n".join(["POST", "/", query, canonical, names, _hex(body)])
    key = f"AWS4{secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    text = "\n".join([_ALGORITHM, moment, scope, _hex(request)])
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    sent["Authorization"] = (
        f"{_ALGORITHM} Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return sent


def _hex(text: str) -> str:
    return sha256(text.encode()).hexdigest()
