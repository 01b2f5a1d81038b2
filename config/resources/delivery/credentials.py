"""The rules for credentials of systemd: their names, where sealed ones go, and how a new one is read."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Final

from syncret.config.errors import Problem, Severity
from syncret.config.resources.delivery.delivery import DeliverySpec
from syncret.config.resources.delivery.targets import CredentialTarget, SocketTarget

ENCRYPTED_STORE: Final = "/etc/credstore.encrypted"
PLAIN_STORE: Final = "/run/credstore"
_ASKED_NAME: Final = 84
"""Bytes that the names of a unit and of a credential may have together: the longest that systemd asks for."""


def credential_folder(target: CredentialTarget) -> str:
    """Where the files of credentials go."""
    return target.path or (PLAIN_STORE if target.encrypt == "none" else ENCRYPTED_STORE)


def given_credentials(spec: DeliverySpec) -> list[str]:
    """What units may ask for, as UNIT/CREDENTIAL: one Delivery alone may answer for it."""
    return [
        f"{unit}/{name}"
        for target in spec.to
        if target.socket is not None
        for unit in target.socket.units
        for name in target.socket.names.values()
    ]


def credential_problems(spec: DeliverySpec) -> Iterator[Problem]:
    """What is wrong with the credentials of a Delivery."""
    given: dict[tuple[str, str], str] = {}
    for number, target in enumerate(spec.to):
        at = f"spec.to[{number}]"
        if target.systemd_credential is not None:
            yield from _sealed(f"{at}.systemdCredential", target.systemd_credential)
        if target.socket is not None:
            yield from _named(f"{at}.socket.names", target.socket.names.values())
            yield from _too_long(f"{at}.socket", target.socket)
            yield from _given_twice(f"{at}.socket", target.socket, given)
    yield from _read_at_a_restart(spec)


def distinct(path: str, names: Iterable[str]) -> Iterator[Problem]:
    """Two files that get the same name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            yield Problem(path=path, message=f'two files become "{name}"', hint="give each a name of its own")
        seen.add(name)


def _named(path: str, names: Iterable[str]) -> Iterator[Problem]:
    names = list(names)
    yield from distinct(path, names)
    for name in names:
        if name in (".", ".."):
            yield Problem(
                path=path, message=f'"{name}" is no name of a credential', hint="choose another one"
            )


def _sealed(at: str, target: CredentialTarget) -> Iterator[Problem]:
    yield from _named(f"{at}.names", target.names.values())
    if target.encrypt == "none" and credential_folder(target) != PLAIN_STORE:
        yield Problem(
            path=f"{at}.path",
            message=f"credentials that are not encrypted go to {PLAIN_STORE} alone",
            hint="leave path out, or encrypt them",
        )


def _too_long(path: str, socket: SocketTarget) -> Iterator[Problem]:
    for unit in socket.units:
        for credential in socket.names.values():
            size = len(unit.replace("@*.", "@.")) + len(credential)
            if size > _ASKED_NAME:
                yield Problem(
                    path=path,
                    message=f'"{unit}" and "{credential}" have {size} bytes together; '
                    f"systemd can ask for {_ASKED_NAME}",
                    hint="shorten the name of the credential",
                )


def _given_twice(path: str, socket: SocketTarget, given: dict[tuple[str, str], str]) -> Iterator[Problem]:
    for unit in socket.units:
        for credential in socket.names.values():
            other = given.setdefault((unit, credential), path)
            if other != path:
                yield Problem(
                    path=path,
                    message=f'"{unit}" gets "{credential}" from {other} already',
                    hint="give it another name",
                )


def _read_at_a_restart(spec: DeliverySpec) -> Iterator[Problem]:
    """A unit that gets credentials and is only reloaded would go on with the old ones."""
    reload = spec.reload
    if reload is None or not reload.unit or reload.action != "reload":
        return
    gets = any(
        target.systemd_credential is not None
        or (target.socket is not None and any(fnmatchcase(reload.unit, unit) for unit in target.socket.units))
        for target in spec.to
    )
    if gets:
        yield Problem(
            path="spec.reload.action",
            message="systemd reads credentials again only at a restart",
            hint="use action: restart; from systemd 260 on, RefreshOnReload=credentials in the unit would do",
            severity=Severity.WARNING,
        )
