"""IAM: API keys, trusted profiles with the clusters they are linked to, and the tokens that it signs.

Written from the published reference: https://cloud.ibm.com/apidocs/iam-identity-token-api
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from tests.support.jwts import BadToken, private_key, signed, verified
from tests.support.servers.ibm.errors import IamError, IbmError

HOUR = 3600
_GRANT = "urn:ibm:params:oauth:grant-type:"
_SIGNER = "ibm-iam"


@dataclass
class Profile:
    """A trusted profile, and the ServiceAccounts (cluster, namespace, name) that may take it on."""

    name: str
    id: str
    links: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])


@dataclass
class Identity:
    """All that is known of callers. `now` is the clock."""

    now: Callable[[], float]
    keys: dict[str, str] = field(default_factory=dict[str, str])
    """IAM id by API key."""
    profiles: list[Profile] = field(default_factory=list[Profile])
    void: set[str] = field(default_factory=set[str])
    """IAM ids whose tokens are good no more."""
    logins: list[str] = field(default_factory=list[str])
    """Each token that was given, by IAM id."""
    issued: list[str] = field(default_factory=list[str])
    """The tokens themselves."""

    def api_key(self, iam_id: str) -> str:
        """A new API key of a service id."""
        key = secrets.token_urlsafe(33)
        self.keys[key] = iam_id
        return key

    def profile(self, name: str) -> Profile:
        """A new trusted profile that nobody may take on yet."""
        profile = Profile(name, f"Profile-{secrets.token_hex(8)}")
        self.profiles.append(profile)
        return profile

    def compute_token(
        self, cluster: str, namespace: str, name: str, *, audience: str = "iam", seconds: int = HOUR
    ) -> str:
        """The token of a ServiceAccount, as a cluster mounts it into a container."""
        now = int(self.now())
        claims = {
            "iss": f"https://{cluster}.containers.cloud.ibm.com",
            "sub": f"system:serviceaccount:{namespace}:{name}",
            "aud": [audience],
            "iat": now,
            "exp": now + seconds,
        }
        return signed(claims, private_key(f"cluster-{cluster}"), kid=cluster)

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/identity/token", self.token)]

    async def token(self, request: web.Request) -> web.Response:
        """A token for a grant."""
        form = {name: str(value) for name, value in (await request.post()).items()}
        grant = form.get("grant_type", "").removeprefix(_GRANT)
        if grant == "apikey":
            iam_id = self._by_key(form.get("apikey", ""))
        elif grant == "cr-token":
            iam_id = self._by_compute_token(form)
        else:
            raise IamError("BXNIM0106E", "Validation of property 'grant_type' failed.")
        now = int(self.now())
        claims = {
            "iam_id": iam_id,
            "sub": iam_id,
            "iss": "https://iam.cloud.ibm.com/identity",
            "grant_type": form["grant_type"],
            "jti": secrets.token_hex(8),
            "iat": now,
            "exp": now + HOUR,
        }
        token = signed(claims, private_key(_SIGNER), kid=_SIGNER)
        self.logins.append(iam_id)
        self.issued.append(token)
        return web.json_response(
            {
                "access_token": token,
                "refresh_token": "not_supported",
                "token_type": "Bearer",
                "expires_in": HOUR,
                "expiration": now + HOUR,
                "scope": "ibm openid",
            }
        )

    def caller(self, authorization: str) -> str:
        """Whose the token is. Raises IbmError."""
        scheme, _, token = authorization.partition(" ")
        if scheme != "Bearer":
            raise IbmError("unauthorized", "Unauthorized: no IAM token was provided.")

        def key_of(kid: str) -> RSAPublicKey | None:
            return private_key(_SIGNER).public_key() if kid == _SIGNER else None

        try:
            iam_id = str(verified(token, key_of, now=self.now())["iam_id"])
        except BadToken:
            raise IbmError("unauthorized", "Unauthorized: the IAM token is invalid or expired.") from None
        if iam_id in self.void:
            raise IbmError("unauthorized", "Unauthorized: the identity was deleted.")
        return iam_id

    def _by_key(self, key: str) -> str:
        if key not in self.keys:
            raise IamError("BXNIM0415E", "Provided API key could not be found.")
        return self.keys[key]

    def _by_compute_token(self, form: dict[str, str]) -> str:
        def key_of(kid: str) -> RSAPublicKey | None:
            known = {cluster for profile in self.profiles for cluster, _, _ in profile.links}
            return private_key(f"cluster-{kid}").public_key() if kid in known else None

        try:
            claims: dict[str, Any] = verified(form.get("cr_token", ""), key_of, now=self.now())
        except BadToken as error:
            raise IamError("BXNIM0513E", f"The compute resource token is not valid: {error}.") from None
        if claims["aud"] != ["iam"]:
            raise IamError("BXNIM0513E", "The compute resource token is meant for somebody else.")
        cluster = str(claims["iss"]).removeprefix("https://").partition(".")[0]
        _, _, namespace, name = str(claims["sub"]).split(":")
        for profile in self.profiles:
            named = {form.get("profile_name"), form.get("profile_id")} & {profile.name, profile.id}
            if named and (cluster, namespace, name) in profile.links:
                return f"iam-{profile.id}"
        raise IamError("BXNIM0517E", "No trusted profile is linked to this compute resource.")
