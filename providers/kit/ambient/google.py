"""Application default credentials, as Google's own tools find them.

They come from the file in GOOGLE_APPLICATION_CREDENTIALS, from `gcloud auth application-default login`, or
from the metadata server.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from syncret.providers.contract import OwnIdentity
from syncret.providers.errors import Malformed
from syncret.providers.kit.ambient.aws import keys_for_federation
from syncret.providers.kit.ambient.google_metadata import metadata_server_login
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.auth.refused import login_by
from syncret.providers.kit.google.endpoints import Endpoints
from syncret.providers.kit.google.external import EXTERNAL, ExternalAccountLogin, from_source, read_account
from syncret.providers.kit.google.keys import ServiceAccountKey, key_login
from syncret.providers.kit.google.tokens import Access, Login, impersonate, login_of, request_token
from syncret.providers.kit.http import Http
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

_USER_TOKENS: Final = "https://oauth2.googleapis.com/token"
_METHOD: Final = "the daemon's own identity"
_GCLOUD: Final = "application_default_credentials.json"


class _User(msgspec.Struct):
    client_id: str
    client_secret: str
    refresh_token: str
    quota_project_id: str = ""
    token_uri: str = _USER_TOKENS


class _ImpersonatedAccount(msgspec.Struct):
    service_account_impersonation_url: str
    source_credentials: msgspec.Raw
    delegates: tuple[str, ...] = ()
    quota_project_id: str = ""


class _Kind(msgspec.Struct):
    type: str = ""


class ApplicationDefault:
    """A Login that searches anew each time: files are replaced before their tokens expire."""

    def __init__(self, own: OwnIdentity, http: Http, endpoints: Endpoints, now: Callable[[], float]) -> None:
        self._own = own
        self._http = http
        self._endpoints = endpoints
        self._environment = own.environment
        self._now = now

    async def __call__(self) -> ExpiringValue[Access]:
        variable = self._environment.get("GOOGLE_APPLICATION_CREDENTIALS")
        path = Path(variable) if variable else self._gcloud()
        if not variable and (path is None or not await asyncio.to_thread(path.is_file)):
            token = await metadata_server_login(self._own, self._endpoints, self._now)()
        else:
            document = self._own.read_file(str(path), what="credentials")
            token = await self._login(document, str(path))()
        project = self._environment.get("GOOGLE_CLOUD_QUOTA_PROJECT")
        return ExpiringValue(token.value._replace(quota_project=project), token.expires) if project else token

    def _gcloud(self) -> Path | None:
        folder, home = self._environment.get("CLOUDSDK_CONFIG"), self._environment.get("HOME")
        if folder:
            return Path(folder, _GCLOUD)
        return Path(home, ".config", "gcloud", _GCLOUD) if home else None

    def _login(self, document: SecretBytes, place: str) -> Login:
        problem = f"the credentials file {place} is none of Google's"
        try:
            match msgspec.json.decode(document.raw, type=_Kind).type:
                case "service_account":
                    key = ServiceAccountKey(document, place, Work())
                    return login_of(key_login(key, self._http, self._now), _METHOD, place)
                case "authorized_user":
                    user = self._user(msgspec.json.decode(document.raw, type=_User))
                    return login_of(user, _METHOD, place)
                case "impersonated_service_account":
                    return self._impersonation(
                        msgspec.json.decode(document.raw, type=_ImpersonatedAccount), place
                    )
                case kind if kind == EXTERNAL:
                    return self._external(document, place)
                case _:
                    problem = f"the credentials file {place} is of a kind that is not supported"
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            pass
        raise Malformed(
            problem,
            hint="its type must be service_account, external_account, authorized_user "
            "or impersonated_service_account",
        )

    def _external(self, document: SecretBytes, place: str) -> Login:
        account = read_account(document, place)
        subject = from_source(
            account.credential_source,
            account.audience,
            self._http,
            aws_keys=lambda source: keys_for_federation(self._own, source, self._endpoints, self._now),
            read_file=self._own.read_file,  # a file of the daemon's own names it, not a manifest
            now=self._now,
        )
        return ExternalAccountLogin(
            account,
            subject,
            self._http,
            self._endpoints,
            self._now,
            method=_METHOD,
            audience_field=f"audience in {place}",
            account_field=f"service_account_impersonation_url in {place}",
        )

    def _user(self, user: _User) -> Login:
        fields = {
            "grant_type": "refresh_token",
            "client_id": user.client_id,
            "client_secret": user.client_secret,
            "refresh_token": user.refresh_token,
        }

        async def login() -> ExpiringValue[Access]:
            token = await request_token(
                self._http,
                user.token_uri,
                fields,
                doing="logging in with gcloud's credentials",
                now=self._now(),
            )
            return ExpiringValue(token.value._replace(quota_project=user.quota_project_id), token.expires)

        return login

    def _impersonation(self, file: _ImpersonatedAccount, place: str) -> Login:
        source = self._login(SecretBytes(bytes(file.source_credentials)), f"source_credentials in {place}")

        async def login() -> ExpiringValue[Access]:
            access = (await source()).value
            url = self._endpoints.with_overrides(file.service_account_impersonation_url)
            with login_by(_METHOD, f"service_account_impersonation_url in {place}"):
                token = await impersonate(self._http, url, access, delegates=file.delegates)
            return ExpiringValue(token.value._replace(quota_project=file.quota_project_id), token.expires)

        return login
