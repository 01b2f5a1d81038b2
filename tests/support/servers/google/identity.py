"""Who calls: service accounts and their keys, access tokens, and which project lets whom in."""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from tests.support.jwts import BadToken, pem, private_key, verified
from tests.support.servers.google.errors import GoogleError

CLOUD_PLATFORM = "https://www.googleapis.com/auth/cloud-platform"
IAM = "https://www.googleapis.com/auth/iam"
AUDIENCE = "https://secretmanager.googleapis.com/"
HOUR = 3600


@dataclass
class Token:
    """An access token: whose, until when, and for which scopes."""

    principal: str
    expires: float
    scopes: frozenset[str]


@dataclass
class User:
    """A person who logged in with `gcloud auth application-default login`."""

    email: str
    client_id: str = "client-id"
    client_secret: str = "client-secret-5a1f"
    refresh_token: str = "1//refresh-77c3"


@dataclass
class Identity:
    """All that is known of callers.

    `now` is the clock; `url` where the token endpoint is, once the server runs.
    """

    now: Callable[[], float]
    url: str = ""
    projects: dict[str, str] = field(default_factory=lambda: {"acme": "123456789012"})
    """Number by id."""
    members: dict[str, set[str]] = field(default_factory=lambda: {"acme": set[str]()})
    """Who may do everything in a project."""
    impersonators: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """Who may get tokens of a service account."""
    users: list[User] = field(default_factory=list[User])
    tokens: dict[str, Token] = field(default_factory=dict[str, Token])
    logins: list[str] = field(default_factory=list[str])
    """Each token that was given, by its principal."""
    _keys: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Service account and name of the private key, by key id."""

    def account(self, name: str, project: str = "acme", *, member: bool = True) -> str:
        """A service account; a member of its project unless told otherwise. Its email."""
        email = f"{name}@{project}.iam.gserviceaccount.com"
        if member:
            self.members[project].add(email)
        return email

    def key_file(self, email: str, *, key: str = "key-1") -> dict[str, str]:
        """A new key of a service account, as the console gives it."""
        kid = secrets.token_hex(20)
        self._keys[kid] = email, key
        return {
            "type": "service_account",
            "project_id": email.partition("@")[2].partition(".")[0],
            "private_key_id": kid,
            "private_key": pem(private_key(key)),
            "client_email": email,
            "client_id": "104",
            "token_uri": f"{self.url}/token",
            "universe_domain": "googleapis.com",
        }

    def key_json(self, email: str, *, key: str = "key-1") -> bytes:
        return json.dumps(self.key_file(email, key=key)).encode()

    def disable_keys(self, email: str) -> None:
        """All keys of this account are deleted, and all its tokens void."""
        self._keys = {kid: owner for kid, owner in self._keys.items() if owner[0] != email}
        self.tokens = {text: token for text, token in self.tokens.items() if token.principal != email}

    def expire_tokens(self) -> None:
        """Every access token ends now."""
        for token in self.tokens.values():
            token.expires = self.now()

    def issue(self, principal: str, scopes: frozenset[str], seconds: int = HOUR) -> str:
        text = f"ya29.{secrets.token_urlsafe(24)}"
        self.tokens[text] = Token(principal, self.now() + seconds, scopes)
        self.logins.append(principal)
        return text

    def claims(self, assertion: str) -> tuple[str, dict[str, object]]:
        """Whose key signed it, and what it says. Raises BadToken."""
        owners: list[str] = []

        def key_of(kid: str) -> RSAPublicKey | None:
            if kid not in self._keys:
                return None
            owners.append(self._keys[kid][0])
            return private_key(self._keys[kid][1]).public_key()

        claims = verified(assertion, key_of, now=self.now())
        if claims.get("iss") != owners[0]:
            raise BadToken("the issuer is not the key's owner")
        return owners[0], claims

    def caller(self, authorization: str, *scopes: str) -> Token:
        """Who the Authorization header stands for: an access token, or a JWT that the caller signed.

        It must have one of the scopes.
        """
        scheme, _, text = authorization.partition(" ")
        if scheme != "Bearer" or not text:
            raise GoogleError(
                "UNAUTHENTICATED",
                "Request is missing required authentication credential.",
                reason="CREDENTIALS_MISSING",
            )
        token = self.tokens.get(text) or self._self_signed(text)
        if token is None or token.expires <= self.now():
            told = "Request had invalid authentication credentials."
            raise GoogleError("UNAUTHENTICATED", told, reason="ACCESS_TOKEN_EXPIRED")
        if not token.scopes & set(scopes):
            told = "Request had insufficient authentication scopes."
            raise GoogleError("PERMISSION_DENIED", told, reason="ACCESS_TOKEN_SCOPE_INSUFFICIENT")
        return token

    def _self_signed(self, text: str) -> Token | None:
        try:
            owner, claims = self.claims(text)
        except BadToken:
            return None
        scopes = frozenset(str(claims.get("scope", "")).split())
        if claims.get("aud") == AUDIENCE:
            scopes |= {CLOUD_PLATFORM}
        return Token(owner, float(str(claims["exp"])), scopes)

    def project(self, who: Token, name: str, call: str) -> str:
        """The project as `projects/<number>`, if the caller may do this there."""
        names = {**self.projects, **{number: number for number in self.projects.values()}}
        number = names.get(name)
        ids = [each for each, its in self.projects.items() if its == number]
        if number is None or who.principal not in self.members.get(ids[0], ()):
            told = f"Permission '{call}' denied on resource project {name} (or it may not exist)."
            raise GoogleError("PERMISSION_DENIED", told, reason="IAM_PERMISSION_DENIED")
        return f"projects/{number}"
