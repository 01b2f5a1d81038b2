"""The daemon's own kubeconfig, as kubectl reads it: several files, contexts, certificates, tokens, programs.

A kubeconfig in a store's Secret is another matter: it may name neither files nor programs.
"""

import asyncio
import os
import time
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from syncret.config.meta import Document, is_object
from syncret.config.text.yaml import parse_text
from syncret.daemon.core.conditions import seconds
from syncret.daemon.homes.contract import HomeUnusable
from syncret.providers.contract import SecretBytes
from syncret.providers.errors import Denied
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Answer, Tls
from syncret.providers.kit.kube.client import Login

EXEC_TIMEOUT: Final = 60.0
_MARGIN: Final = 10.0
"""Seconds before its end at which a token of a program is asked for anew."""

_RENEWED: Final = 60.0
"""Seconds for which a token from a file is used before the file is read again."""


class _Named(Struct):
    name: str = ""
    cluster: Document | None = None
    user: Document | None = None
    context: Document | None = None


class _File(Struct, rename={"current_context": "current-context"}):
    current_context: str | None = ""
    clusters: list[_Named] | None = None
    users: list[_Named] | None = None
    contexts: list[_Named] | None = None


class Access(Struct, frozen=True, kw_only=True):
    """Where the API server is, and who we are there."""

    server: str
    tls: Tls
    login: Login = field()
    namespace: str = ""
    """That of the context."""


class _Entries(Struct):
    """The entries of all files; the first file that has a name counts, as for kubectl."""

    current: str = ""
    found: dict[tuple[str, str], tuple[Document, Path]] = field(
        default_factory=dict[tuple[str, str], tuple[Document, Path]]
    )

    def take(self, path: Path, file: _File) -> None:
        """Add what is in one file."""
        self.current = self.current or file.current_context or ""
        for kind, named in (("cluster", file.clusters), ("user", file.users), ("context", file.contexts)):
            for each in named or ():
                value: Document | None = getattr(each, kind)
                self.found.setdefault((kind, each.name), (value or {}, path.parent))

    def get(self, kind: str, name: str, shown: str) -> tuple[Document, Path]:
        """The entry of that name. Raises HomeUnusable."""
        entry = self.found.get((kind, name))
        if entry is None:
            known = ", ".join(sorted(each for of, each in self.found if of == kind)) or "none"
            raise HomeUnusable(f"{shown} has no {kind} {name!r}", hint=f"it has: {known}")
        return entry


def access(paths: str, context: str, environment: Mapping[str, str]) -> Access:
    """Read the kubeconfig files (several are separated by colons). Raises HomeUnusable."""
    entries = _Entries()
    files = [Path(each).expanduser() for each in paths.split(":") if each]
    for path in files:
        entries.take(path, _read(path))
    name = context or entries.current
    if not name:
        raise HomeUnusable(f"{paths} has no current-context", hint="name one with the setting kubeContext")
    chosen, _ = entries.get("context", name, paths)
    cluster, cluster_folder = entries.get("cluster", str(chosen.get("cluster") or ""), paths)
    user, user_folder = entries.get("user", str(chosen.get("user") or ""), paths)
    server = str(cluster.get("server") or "")
    if "://" not in server:
        raise HomeUnusable(f"{paths}: the cluster of context {name!r} has no server", hint="write its URL")
    tls = Tls(
        ca=_pem(cluster, "certificate-authority", cluster_folder),
        certificate=_pem(user, "client-certificate", user_folder),
        key=_pem(user, "client-key", user_folder),
        verify=cluster.get("insecure-skip-tls-verify") is not True,
    )
    login = _login(user, user_folder, environment)
    return Access(server=server, tls=tls, login=login, namespace=str(chosen.get("namespace") or ""))


def _read(path: Path) -> _File:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise HomeUnusable(
            f"{path}: {error.strerror}", hint="name the kubeconfig with the setting kubeconfig or KUBECONFIG"
        ) from None
    parsed = next(iter(parse_text(text)), None)
    if parsed is None or not is_object(parsed.value):
        raise HomeUnusable(f"{path} is no kubeconfig", hint="it must be a YAML mapping, as kubectl writes it")
    try:
        return msgspec.convert(parsed.value, type=_File)
    except msgspec.ValidationError as error:
        raise HomeUnusable(f"{path} is no kubeconfig: {error}") from None


def _pem(fields: Document, name: str, folder: Path) -> bytes:
    data = fields.get(f"{name}-data")
    if data:
        try:
            return b64decode(str(data), validate=True)
        except ValueError:
            raise HomeUnusable(f"the kubeconfig: {name}-data is not base64") from None
    file = fields.get(name)
    if not file:
        return b""
    path = folder / str(file)
    try:
        return path.read_bytes()
    except OSError as error:
        raise HomeUnusable(f"{path}: {error.strerror}", hint=f"the kubeconfig names it as {name}") from None


def _login(user: Document, folder: Path, environment: Mapping[str, str]) -> Login:
    if is_object(user.get("exec")):
        return _Program(user["exec"], folder, environment)
    if user.get("tokenFile"):
        return FileToken(folder / str(user["tokenFile"]))
    if user.get("auth-provider"):
        raise HomeUnusable(
            "the kubeconfig has auth-provider, which Kubernetes no longer has", hint="use exec, or a token"
        )
    token = str(user.get("token") or "")
    return FixedHeaders(bearer(SecretBytes(token.encode())) if token else {})


Call = Callable[[Mapping[str, str]], Awaitable[Answer]]


class FixedHeaders:
    """Headers that never change; none where a client certificate says who we are."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    async def use(self, call: Call) -> Answer:
        return await call(self._headers)


class FileToken:
    """A token in a file that is replaced before it expires."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._headers: Mapping[str, str] = {}
        self._read_at = float("-inf")

    async def use(self, call: Call) -> Answer:
        """Make the call, and again with a token that is read anew if the server no longer knows us."""
        answer = await call(self._current())
        if answer.status != 401:  # noqa: PLR2004  # of HTTP
            return answer
        self._read_at = float("-inf")
        return await call(self._current())

    def _current(self) -> Mapping[str, str]:
        if time.monotonic() - self._read_at > _RENEWED:
            try:
                text = self._path.read_bytes().strip()
            except OSError as error:
                raise Denied(
                    f"the token file {self._path} cannot be read: {error.strerror}",
                    hint="is the ServiceAccount's token mounted?",
                ) from None
            self._headers = bearer(SecretBytes(text))
            self._read_at = time.monotonic()
        return self._headers


class _Variable(Struct):
    name: str
    value: str


class _Exec(Struct, rename="camel"):
    command: str
    api_version: str = "client.authentication.k8s.io/v1"
    args: list[str] | None = None
    env: list[_Variable] | None = None


class _Credential(Struct, rename="camel"):
    token: str = ""
    expiration_timestamp: str = ""


class _Answered(Struct):
    status: _Credential


class _Program:
    """A token that a program prints, until it expires or is refused."""

    def __init__(self, spec: Document, folder: Path, environment: Mapping[str, str]) -> None:
        try:
            self._spec = msgspec.convert(spec, type=_Exec)
        except msgspec.ValidationError as error:
            raise HomeUnusable(f"the kubeconfig: exec: {error}") from None
        command = self._spec.command
        self._command = str(folder / command) if "/" in command else command
        self._environment = {
            **environment,
            **{each.name: each.value for each in self._spec.env or ()},
            "KUBERNETES_EXEC_INFO": msgspec.json.encode(
                {
                    "apiVersion": self._spec.api_version,
                    "kind": "ExecCredential",
                    "spec": {"interactive": False},
                }
            ).decode(),
        }
        self._current: tuple[Mapping[str, str], float] | None = None
        self._asking = asyncio.Lock()

    async def use(self, call: Call) -> Answer:
        """Make the call, and again with a new token if the server no longer knows us."""
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
            process.kill()
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
        if not status.token:
            raise Denied(
                f"the program {self._command} of the kubeconfig printed no token",
                hint="it must print an ExecCredential as JSON",
            )
        expires = seconds(status.expiration_timestamp)
        headers = bearer(SecretBytes(status.token.encode()))
        return headers, float("inf") if expires is None else expires - _MARGIN


def kubeconfig_paths(setting: str, environment: Mapping[str, str]) -> str:
    """The files to read: the setting, `KUBECONFIG`, or where kubectl looks."""
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111  # of whoever runs us
    return setting or environment.get("KUBECONFIG") or f"{home}/.kube/config"
