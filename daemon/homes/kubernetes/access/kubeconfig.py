"""The kubeconfig of a daemon or of a person, as kubectl reads it: files, contexts, certificates, logins.

A kubeconfig in a store's Secret is another matter: it may name neither files nor programs.
"""

import os
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from syncret.config.meta import Document, is_object
from syncret.config.text.yaml import parse_text
from syncret.daemon.homes.contract import HomeUnusable
from syncret.daemon.homes.kubernetes.access.logins import FileToken, FixedHeaders, Impersonation, Program
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Tls
from syncret.providers.kit.kube.access import impersonation
from syncret.providers.kit.kube.client import Login
from syncret.providers.values import SecretBytes

PROXIES: Final = ("http://", "https://")
PROXY_HINT: Final = "write http://HOST:PORT or https://HOST:PORT; SOCKS proxies cannot be used"


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
    """The address of the API server, and the login to it."""

    server: str
    tls: Tls
    login: Login = field()
    namespace: str = ""
    """The namespace of the context."""
    proxy: str = ""
    """The proxy to it; empty: as the environment says."""
    pod: str = ""
    """Our pod, which distinguishes replicas in the server's audit log."""


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
    for path in _existing([Path(each).expanduser() for each in paths.split(":") if each]):
        entries.take(path, _read(path))
    name = context or entries.current
    if not name:
        raise HomeUnusable(
            f"{paths} has no current-context", hint="name one with --context, or the setting context"
        )
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
        server_name=str(cluster.get("tls-server-name") or ""),
    )
    proxy = str(cluster.get("proxy-url") or "")
    if proxy and not proxy.startswith(PROXIES):
        raise HomeUnusable(f"{paths}: the proxy-url of context {name!r} is no HTTP proxy", hint=PROXY_HINT)
    login = _login(user, user_folder, environment, cluster=_cluster_info(cluster, tls))
    return Access(
        server=server, tls=tls, login=login, namespace=str(chosen.get("namespace") or ""), proxy=proxy
    )


def _existing(files: Sequence[Path]) -> Sequence[Path]:
    """The files that exist, as for kubectl; a single file must exist."""
    return [path for path in files if path.exists()] or files


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


def _login(user: Document, folder: Path, environment: Mapping[str, str], *, cluster: Document) -> Login:
    """The login of the user entry, with kubectl's precedence. Raises HomeUnusable."""
    try:
        as_whom = impersonation(user)
    except Malformed as error:
        raise HomeUnusable(error.message, hint=error.hint) from None
    login = _own_login(user, folder, environment, cluster)
    return Impersonation(login, as_whom) if as_whom else login


def _own_login(user: Document, folder: Path, environment: Mapping[str, str], cluster: Document) -> Login:
    if is_object(user.get("exec")):
        return Program(user["exec"], folder, environment, cluster)
    if user.get("tokenFile"):
        return FileToken(folder / str(user["tokenFile"]))
    for gone, hint in _GONE.items():
        if user.get(gone):
            raise HomeUnusable(f"the kubeconfig has {gone}, which Kubernetes no longer has", hint=hint)
    token = str(user.get("token") or "")
    return FixedHeaders(bearer(SecretBytes(token.encode())) if token else {})


_GONE: Final = {
    "auth-provider": "use exec, or a token",
    "username": "use a token, a client certificate or exec",
}


def _cluster_info(cluster: Document, tls: Tls) -> Document:
    """The description of the cluster for programs with `provideClusterInfo`."""
    info: Document = {"server": str(cluster.get("server") or "")}
    for name in ("insecure-skip-tls-verify", "tls-server-name", "proxy-url"):
        if cluster.get(name):
            info[name] = cluster[name]
    if tls.ca:
        info["certificate-authority-data"] = b64encode(tls.ca).decode()
    for extension in cluster.get("extensions") or ():
        if is_object(extension) and extension.get("name") == "client.authentication.k8s.io/exec":
            info["config"] = extension.get("extension")
    return info


def kubeconfig_paths(setting: str, environment: Mapping[str, str]) -> str:
    """The files to read: the setting, `KUBECONFIG`, or where kubectl looks."""
    home = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111  # of the user who runs us
    return setting or environment.get("KUBECONFIG") or f"{home}/.kube/config"
