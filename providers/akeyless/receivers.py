"""The server of an Akeyless store, which gets proofs of the daemon's identity at its cloud."""

from collections.abc import Iterator
from typing import Final

from syncret.providers.akeyless.spec import AkeylessSpec
from syncret.providers.contract import Receiver

HOME: Final = "https://api.akeyless.io"
"""Akeyless' public API."""

_PROOF: Final = "a proof of the daemon's own identity at its cloud"


def base(spec: AkeylessSpec) -> str:
    """The address of the gateway, or of the public API."""
    return (spec.akeyless_gw_api_url or HOME).rstrip("/")


def server(spec: AkeylessSpec, sends: str) -> Receiver:
    """The server as a receiver of what it is sent."""
    return Receiver("akeyless", base(spec), sends, "akeylessGWApiURL")


def receivers(spec: AkeylessSpec) -> Iterator[Receiver]:
    """The server, if the login can only be that of a cloud: it names neither a parameter nor an account.

    The access type itself is in a Secret; with a parameter it is known, and checked, at the login.
    """
    auth = spec.auth_secret_ref
    named = auth.secret_ref.access_type_param.name or auth.service_account_ref
    if auth.kubernetes_auth is None and not named:
        yield server(spec, _PROOF)
