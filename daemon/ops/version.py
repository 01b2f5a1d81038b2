"""The version of the installed distribution."""

from functools import lru_cache


@lru_cache(maxsize=1)
def version() -> str:
    """The version in the package's metadata; `unknown` if the code is not installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed  # slow to import, and most commands do not need it

    try:
        return installed("syncret")
    except PackageNotFoundError:
        return "unknown"
