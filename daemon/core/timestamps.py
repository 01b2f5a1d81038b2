"""Times as Kubernetes writes them: RFC 3339 in UTC, whole seconds."""

from datetime import UTC, datetime
from functools import lru_cache


def stamp(seconds: float) -> str:
    """Seconds since the epoch as `2026-01-01T00:00:00Z`; fractions are cut off."""
    return _stamp(int(seconds))


@lru_cache(maxsize=16)  # thousands of timestamps fall within the same second
def _stamp(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00") + "Z"


def seconds(text: str) -> float | None:
    """The epoch seconds of a timestamp; None for an empty or a malformed one."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
