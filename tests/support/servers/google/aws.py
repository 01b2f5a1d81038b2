"""Judges a signed request to AWS (`GetCallerIdentity`) as Google's STS does by passing it on to AWS.

The signature is computed anew by botocore, which shares no code with what is tested.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import import_module
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.support.servers.google.errors import OAuthError

# Not typed.
SigV4Auth: Any = import_module("botocore.auth").SigV4Auth
AWSRequest: Any = import_module("botocore.awsrequest").AWSRequest
Credentials: Any = import_module("botocore.credentials").Credentials


def caller_of(subject_token: str, keys: Mapping[str, str], audience: str, *, now: float) -> str:
    """The ARN of whoever signed the request. Raises OAuthError."""
    request: dict[str, Any] = json.loads(unquote(subject_token))
    headers = {str(each["key"]).lower(): str(each["value"]) for each in request["headers"]}
    target = urlsplit(str(request["url"]))
    region = (target.hostname or "").split(".")[1]
    if request["method"] != "POST" or target.query != "Action=GetCallerIdentity&Version=2011-06-15":
        raise _refused("it is no GetCallerIdentity")
    if target.hostname != f"sts.{region}.amazonaws.com" or headers["host"] != target.hostname:
        raise _refused("it does not go to AWS")
    if headers.get("x-goog-cloud-target-resource") != audience:
        raise _refused("it is meant for another audience")
    authorization = headers["authorization"]
    key_id = authorization.partition("Credential=")[2].partition("/")[0]
    moment = datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    if abs(now - moment) > 300:
        raise _refused("it has expired")
    if key_id not in keys or authorization != _signature(
        request["url"], headers, key_id, keys[key_id], region
    ):
        raise _refused("its signature is wrong")
    return f"arn:aws:iam::111122223333:user/{key_id}"


def _signature(url: str, headers: Mapping[str, str], key_id: str, secret_key: str, region: str) -> str:
    signer = SigV4Auth(Credentials(key_id, secret_key, headers.get("x-amz-security-token")), "sts", region)
    # The header with the audience is signed by some of Google's clients and not by others.
    names = headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    kept = {name: value for name, value in headers.items() if name in names}
    request = AWSRequest("POST", url, headers=kept)
    request.context["timestamp"] = headers["x-amz-date"]
    canonical = signer.canonical_request(request)
    signature = signer.signature(signer.string_to_sign(request, canonical), request)
    scope = signer.scope(request)
    return f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders={';'.join(names)}, Signature={signature}"


def _refused(why: str) -> OAuthError:
    return OAuthError("invalid_grant", f"Received invalid AWS response: {why}.")
