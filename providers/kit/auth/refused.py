"""The errors of refused logins: with the method, the fields to check, and the server's status."""

from collections.abc import Generator
from contextlib import contextmanager

from syncret.providers.errors import Denied


class RefusedLogin(Denied):
    """A server does not accept what a login sends. The message has the server's status."""


@contextmanager
def login_by(method: str, check: str) -> Generator[None, None, None]:
    """Adds method and fields to check to the error of a login within the block that a server refuses.

    Args:
        method: the field of the spec that chooses the login.
        check: the fields of the spec that may be wrong, the most likely one first.
    """
    try:
        yield
    except RefusedLogin as error:
        failed = refused(error, method, check)
    else:
        return
    raise failed  # out here: what a server said must not become the context


def refused(error: Denied, method: str, check: str) -> Denied:
    """The error of a refused login, with its method and what to check."""
    failed = error.within(f"logging in by {method}")
    failed.hint = f"check {check}: {error.hint}" if error.hint else f"check {check}"
    return failed
