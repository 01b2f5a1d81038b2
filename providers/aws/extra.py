"""The SDK of AWS is an extra of the distribution: its 32 MB are for those who have a store there."""

from collections.abc import Generator
from contextlib import contextmanager

from syncret.providers.errors import Malformed


@contextmanager
def needs_sdk() -> Generator[None]:
    """Around imports of what uses the SDK, which take a quarter of a second. Raises Malformed without it."""
    missing = ""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing == "syncret":
            raise
    if missing:
        raise Malformed(
            f"the SDK of AWS is not installed: there is no module {missing}",
            hint="install syncret with its extra: syncret[aws]",
        )
