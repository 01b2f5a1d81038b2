"""Nebius MysteryBox, and IAM's exchange of tokens, written from the published protocol files.

https://github.com/nebius/api: nebius/mysterybox/v1/payload_service.proto, nebius/iam/v1/token_service.proto
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.support.jwts import BadToken, pem, private_key, verified
from tests.support.servers.grpc import Answer, GrpcServer, Refused, schema

DOMAIN: Final = "api.nebius.example"
HOSTS: Final = (f"dpl.mysterybox.{DOMAIN}", f"tokens.iam.{DOMAIN}")
ACCOUNT: Final = "serviceaccount-e00example"
AUDIENCE: Final = "token-service.iam.new.nebiuscloud.net"
_OAUTH: Final = "urn:ietf:params:oauth"

PAYLOADS: Final = schema(
    "nebius.mysterybox.v1",
    GetPayloadRequest={"secret_id": (1, "string"), "version_id": (2, "string")},
    SecretPayload={"version_id": (1, "string"), "data": (2, "*Payload")},
    Payload={"key": (1, "string"), "string_value": (12, "string"), "binary_value": (13, "bytes")},
)
TOKENS: Final = schema(
    "nebius.iam.v1",
    ExchangeTokenRequest={
        "grant_type": (1, "string"),
        "requested_token_type": (2, "string"),
        "subject_token": (3, "string"),
        "subject_token_type": (4, "string"),
    },
    CreateTokenResponse={
        "access_token": (1, "string"),
        "issued_token_type": (2, "string"),
        "token_type": (3, "string"),
        "expires_in": (4, "int64"),
    },
)


class Nebius(GrpcServer):
    """Secrets by ID, and one service account with its keys. Versions have the IDs v1, v2 and so on."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self.now = now
        self.key = "publickey-1"
        """The account's key that is good."""
        self.logins = 0
        self.secrets: dict[str, list[dict[str, str | bytes]]] = {}

    def key_file(self) -> bytes:
        """The credentials of the service account, as they are downloaded."""
        key = {"alg": "RS256", "private-key": pem(private_key(self.key)), "kid": self.key}
        return json.dumps({"subject-credentials": {**key, "iss": ACCOUNT, "sub": ACCOUNT}}).encode()

    def methods(self) -> Mapping[str, tuple[Any, Answer]]:
        return {
            "nebius.mysterybox.v1.PayloadService/Get": (PAYLOADS["GetPayloadRequest"], self._get),
            "nebius.iam.v1.TokenExchangeService/Exchange": (TOKENS["ExchangeTokenRequest"], self._exchange),
        }

    def _get(self, request: Any) -> object:  # noqa: ANN401  # protobuf's own
        self.enter("Get", request.secret_id)
        versions = self.secrets.get(request.secret_id)
        number = int((request.version_id or f"v{len(versions or ())}").removeprefix("v"))
        if versions is None or number > len(versions):
            raise Refused("NOT_FOUND")
        entries = [
            PAYLOADS["Payload"](
                key=key, **{"string_value" if isinstance(each, str) else "binary_value": each}
            )
            for key, each in versions[number - 1].items()
        ]
        return PAYLOADS["SecretPayload"](version_id=f"v{number}", data=entries)

    def _exchange(self, request: Any) -> object:  # noqa: ANN401  # protobuf's own
        kinds = request.grant_type, request.requested_token_type, request.subject_token_type
        wanted = "grant-type:token-exchange", "token-type:access_token", "token-type:jwt"
        if kinds != tuple(f"{_OAUTH}:{kind}" for kind in wanted):
            raise Refused("INVALID_ARGUMENT")
        keys = {self.key: private_key(self.key).public_key()}
        try:
            claims = verified(request.subject_token, keys.get, now=self.now())
        except BadToken:
            raise Refused("UNAUTHENTICATED") from None
        if (claims["iss"], claims["sub"], claims["aud"]) != (ACCOUNT, ACCOUNT, AUDIENCE):
            raise Refused("UNAUTHENTICATED")
        self.logins += 1
        self.token = f"ne1canary-token-{self.logins}"
        return TOKENS["CreateTokenResponse"](
            access_token=self.token,
            issued_token_type=f"{_OAUTH}:token-type:access_token",
            token_type="Bearer",
            expires_in=43200,
        )
