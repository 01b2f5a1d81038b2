"""Signs one request to AWS's token service (Signature Version 4): a POST to `/`."""

import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

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
    """The headers, with those of the signature added."""
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
