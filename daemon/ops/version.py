"""The version of the installed distribution."""

from functools import lru_cache


@lru_cache(maxsize=1)
def version() -> str:
    """As the package's metadata says it; `unknown` where the code runs without having been installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed  # slow to import, and most commands do not ask

    try:
        return installed("syncret")
    except PackageNotFoundError:
        return "unknown"
