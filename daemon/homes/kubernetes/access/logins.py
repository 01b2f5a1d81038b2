"""The logins of a kubeconfig: fixed headers, a token in a file, or a program that prints tokens."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from syncret.config.meta import Document
from syncret.daemon.core.conditions import seconds
from syncret.daemon.homes.contract import HomeUnusable
from syncret.providers.errors import Denied
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Answer
from syncret.providers.kit.kube.client import Login
from syncret.providers.values import SecretBytes

EXEC_TIMEOUT: Final = 60.0
_MARGIN: Final = 10.0
"""Seconds before its end at which a token of a program is asked for anew."""

_RENEWED: Final = 60.0
"""Seconds for which a token from a file is used before the file is read again."""

Call = Callable[[Mapping[str, str]], Awaitable[Answer]]


class FixedHeaders:
    """Headers that never change; none if a client certificate is the login."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    async def use(self, call: Call) -> Answer:
        return await call(self._headers)


class FileToken:
    """A token in a file that is replaced before it expires."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._headers: Mapping[str, str] = {}
        self._read_at = float("-inf")

    async def use(self, call: Call) -> Answer:
        """Make the call; repeat it with the token read anew if the server rejects the login."""
        answer = await call(self._current())
        if answer.status != 401:  # noqa: PLR2004  # of HTTP
            return answer
        self._read_at = float("-inf")
        return await call(self._current())

    def _current(self) -> Mapping[str, str]:
        if self._clock() - self._read_at > _RENEWED:
            try:
                text = self._path.read_bytes().strip()
            except OSError as error:
                raise Denied(
                    f"the token file {self._path} cannot be read: {error.strerror}",
                    hint="is the ServiceAccount's token mounted?",
                ) from None
            self._headers = bearer(SecretBytes(text))
            self._read_at = self._clock()
        return self._headers


class Pair(NamedTuple):
    """A client certificate and its key as PEM; empty: none."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return f"<Pair {'of a client' if self.certificate else 'without a client'}>"


class Impersonation:
    """A login that impersonates another user."""

    def __init__(self, login: Login, headers: Mapping[str, str]) -> None:
        self._login = login
        self._headers = headers

    async def use(self, call: Call) -> Answer:
        return await self._login.use(lambda headers: call({**headers, **self._headers}))

    async def pair(self) -> Pair:
        """The client certificate of the other login."""
        return await pair_of(self._login)


async def pair_of(login: Login) -> Pair:
    """The client certificate that comes with a login; most have none of their own. Raises SyncError."""
    return await login.pair() if isinstance(login, Program | Impersonation) else Pair(b"", b"")


class _Variable(Struct):
    name: str
    value: str


class _Exec(Struct, rename="camel"):
    command: str
    api_version: str = "client.authentication.k8s.io/v1"
    args: list[str] | None = None
    env: list[_Variable] | None = None
    interactive_mode: str = ""
    provide_cluster_info: bool = False


class _Credential(Struct, rename="camel"):
    token: str = ""
    expiration_timestamp: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""


class _Answered(Struct):
    status: _Credential


class Program:
    """A token that a program prints, until it expires or is refused."""

    def __init__(
        self, spec: Document, folder: Path, environment: Mapping[str, str], cluster: Document
    ) -> None:
        try:
            self._spec = msgspec.convert(spec, type=_Exec)
        except msgspec.ValidationError as error:
            raise HomeUnusable(f"the kubeconfig: exec: {error}") from None
        if self._spec.interactive_mode == "Always":
            raise HomeUnusable(
                f"the kubeconfig: exec: {self._spec.command} asks on a terminal",
                hint="choose one that needs none (interactiveMode: IfAvailable), or use a token",
            )
        command = self._spec.command
        self._command = str(folder / command) if "/" in command else command
        self._environment = {
            **environment,
            **{each.name: each.value for each in self._spec.env or ()},
            "KUBERNETES_EXEC_INFO": msgspec.json.encode(
                {
                    "apiVersion": self._spec.api_version,
                    "kind": "ExecCredential",
                    "spec": {
                        "interactive": False,
                        **({"cluster": cluster} if self._spec.provide_cluster_info else {}),
                    },
                }
            ).decode(),
        }
        self._current: tuple[Mapping[str, str], float] | None = None
        self._pair: Pair | None = None
        self._asking = asyncio.Lock()

    async def pair(self) -> "Pair":
        """The client certificate that it gives, if any. Raises SyncError."""
        await self._headers()
        return self._pair or Pair(b"", b"")

    async def use(self, call: Call) -> Answer:
        """Make the call; repeat it with a new token if the server rejects the login."""
        headers = await self._headers()
        answer = await call(headers)
        if answer.status != 401:  # noqa: PLR2004  # of HTTP
            return answer
        if self._current is not None and self._current[0] is headers:
            self._current = None
        return await call(await self._headers())

    async def _headers(self) -> Mapping[str, str]:
        async with self._asking:
            if self._current is None or time.time() > self._current[1]:
                self._current = await self._ask()
            return self._current[0]

    async def _ask(self) -> tuple[Mapping[str, str], float]:
        arguments: Sequence[str] = self._spec.args or ()
        try:
            process = await asyncio.create_subprocess_exec(
                self._command,
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                env=self._environment,
            )
        except OSError as error:
            raise Denied(
                f"the program {self._command} of the kubeconfig cannot be run: {error.strerror}",
                hint="install it, or use a token",
            ) from None
        try:
            async with asyncio.timeout(EXEC_TIMEOUT):
                output, _ = await process.communicate()
        except TimeoutError:
            raise Denied(f"the program {self._command} of the kubeconfig gave no token in time") from None
        finally:
            if process.returncode is None:
                process.kill()
        if process.returncode:
            raise Denied(f"the program {self._command} of the kubeconfig ended with {process.returncode}")
        return self._token_in(output)

    def _token_in(self, output: bytes) -> tuple[Mapping[str, str], float]:
        try:
            status = msgspec.json.decode(output, type=_Answered).status
        except (msgspec.MsgspecError, UnicodeDecodeError):
            status = _Credential()
        pair = Pair(status.client_certificate_data.encode(), status.client_key_data.encode())
        if self._pair is not None and pair != self._pair:
            raise Denied(
                f"the program {self._command} of the kubeconfig gave another client certificate",
                hint="connections cannot change theirs: start syncret anew",
            )
        self._pair = pair
        if not (status.token or pair.certificate):
            raise Denied(
                f"the program {self._command} of the kubeconfig printed neither a token nor a certificate",
                hint="it must print an ExecCredential as JSON",
            )
        expires = seconds(status.expiration_timestamp)
        headers = bearer(SecretBytes(status.token.encode())) if status.token else {}
        return headers, float("inf") if expires is None else expires - _MARGIN
