"""Doppler: the secrets of one config.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store, its logins
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.doppler.spec import DopplerSpec, check
from syncret.providers.kit.environment import ADDRESSES


def published_rate(_spec: DopplerSpec) -> float | None:
    """Doppler takes 120 reads of secrets a minute with one token on its smallest plan.

    https://docs.doppler.com/reference/api#rate-limits
    """
    return None if ADDRESSES.get("DOPPLER_BASE_URL") else 2.0


PROVIDER: Final = Provider(
    SpecType("doppler", DopplerSpec, check=check),
    open=OnFirstUse("syncret.providers.doppler.connection"),
    batch_size=50,
    published_rate=published_rate,
)
"""A read asks for its names in the URL: more than fifty could make it longer than servers take."""
