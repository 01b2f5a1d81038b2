"""The addresses of Volcengine, and where a store would have the daemon's own identity sent to."""

from collections.abc import Iterator
from typing import Final

from syncret.providers.contract import Receiver
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.volcengine.spec import VolcengineSpec

_OWN_HOST: Final = frozenset(
    {
        "ap-southeast-2",
        "ap-southeast-3",
        "cn-beijing-autodriving",
        "cn-beijing-selfdrive",
        "cn-shanghai-autodriving",
    }
)
"""Regions whose services have hosts of their own, as in the vendor's SDK."""


def address(region: str) -> str:
    """The key management service of a region."""
    host = f"kms.{region}.volcengineapi.com" if region in _OWN_HOST else "open.volcengineapi.com"
    return ADDRESSES.get("VOLCENGINE_ENDPOINT") or f"https://{host}"


def sts() -> str:
    """The service that gives credentials of a role."""
    host = ADDRESSES.get("VOLCENGINE_OIDC_STS_ENDPOINT") or "sts.volcengineapi.com"
    return host if "://" in host else f"https://{host}"


def receivers(spec: VolcengineSpec) -> Iterator[Receiver]:
    """Both, unless the store names credentials."""
    if spec.auth is None or spec.auth.secret_ref is None:
        yield Receiver("volcengine", sts(), "the OIDC token of the daemon's pod")
        yield Receiver("volcengine", address(spec.region), "requests signed as the daemon's role", "region")
