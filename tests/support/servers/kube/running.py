"""The real Kubernetes API of a test run: kube-apiserver on etcd, one of each for all tests.

There is no controller manager: namespaces never go away, nobody makes default ServiceAccounts, nothing that
is owned is collected. A test works in a namespace of its own.
"""

import atexit
import itertools
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec import Struct, field

from syncret.config.fields import Json
from tests.support.servers.golang import built, need_go
from tests.support.tls import Authority, Pair

ADMIN: Final = "admin-token-of-the-tests"
_VERSION: Final = "k8s.io/component-base/version"
_FLAGS: Final = (
    "-mod=mod",
    f"-ldflags=-s -w -X {_VERSION}.gitVersion=v1.35.4 -X {_VERSION}.gitMajor=1 -X {_VERSION}.gitMinor=35",
)
_READY_WITHIN: Final = 60.0
_STOPPED_WITHIN: Final = 5.0
_AUDIT: Final = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "userGroups": ["system:serviceaccounts"]}, {"level": "None"}],
}
"""What ServiceAccounts do is written down; what the administrator does is not."""
_numbers = itertools.count(1)


class Answer(NamedTuple):
    """What the API answered."""

    status: int
    body: dict[str, Any]
    warnings: Sequence[str] = ()


class Request(NamedTuple):
    """One request as the audit log has it."""

    verb: str
    group: str
    resource: str
    """With its subresource: `externalsecrets/status`. Empty: the request was for no resource."""
    name: str
    status: int
    uri: str = ""
    """Path and query."""


class KubeApi:
    """A cluster, and everything that an administrator does to it. Blocking, and quick."""

    def __init__(
        self, *, audit: Mapping[str, Any] = MappingProxyType(_AUDIT), users: Sequence[str] = ()
    ) -> None:
        """`audit`: the policy of the audit log; `users` may do everything, each with `token_of` its name."""
        self._folder = Path(tempfile.mkdtemp(prefix="syncret-kube-"))
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        self.authority = Authority("Kubernetes of the tests")
        self.trust = ssl.create_default_context(cadata=self.authority.pem.decode())
        self._write_files(audit, users)
        client, peer, port = _free_ports(3)
        self.url = f"https://127.0.0.1:{port}"
        folder = programs("etcd", "kube-apiserver")
        self._etcd = self._start(
            "etcd",
            folder / "etcd",
            f"--data-dir={self._folder / 'etcd'}",
            f"--listen-client-urls=http://127.0.0.1:{client}",
            f"--advertise-client-urls=http://127.0.0.1:{client}",
            f"--listen-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-cluster=default=http://127.0.0.1:{peer}",
            "--unsafe-no-fsync",
        )
        self._command = (
            folder / "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{client}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={self._folder}",
            f"--tls-cert-file={self._folder / 'server.crt'}",
            f"--tls-private-key-file={self._folder / 'server.key'}",
            f"--client-ca-file={self._folder / 'ca.crt'}",
            f"--token-auth-file={self._folder / 'tokens.csv'}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--endpoint-reconciler-type=none",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self._folder / 'sa.key'}",
            f"--service-account-signing-key-file={self._folder / 'sa.key'}",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
            "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
            f"--audit-policy-file={self._folder / 'audit.json'}",
            f"--audit-log-path={self.audit_log}",
            "--audit-log-maxsize=100000",
        )
        self._apiserver = self._start("apiserver", *self._command)
        self._wait()

    @property
    def audit_log(self) -> Path:
        """Where the API server writes down what it was asked."""
        return self._folder / "audit.log"

    @property
    def ca(self) -> bytes:
        """PEM of the authority that signed the server's certificate."""
        return self.authority.pem

    @property
    def ca_base64(self) -> str:
        """The same as a spec holds it."""
        return b64encode(self.ca).decode()

    def kubeconfig(self, file: Path, token: str = ADMIN, *, namespace: str = "", url: str = "") -> Path:
        """A kubeconfig that is now in that file. `url` leads here, if that is not the server's own."""
        context = {"cluster": "c", "user": "u", **({"namespace": namespace} if namespace else {})}
        cluster = {"server": url or self.url, "certificate-authority-data": self.ca_base64}
        document = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": context}],
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": {"token": token}}],
        }
        file.write_text(json.dumps(document))
        return file

    def stop(self) -> None:
        """The end of both processes, in the order in which they need each other."""
        for process in (self._apiserver, self._etcd):
            process.kill()
            process.wait()

    def stop_server(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End the API server alone; what it stored stays."""
        self._apiserver.send_signal(number)
        try:
            self._apiserver.wait(_STOPPED_WITHIN)
        except subprocess.TimeoutExpired:  # it waits for its watches
            self._apiserver.kill()
            self._apiserver.wait()

    def start_server(self) -> None:
        """Start it again, at the same address."""
        self._apiserver = self._start("apiserver", *self._command)
        self._wait()

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        token: str = ADMIN,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> Answer:
        """One request, by default as the administrator; a PATCH is a merge patch."""
        content = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = urllib.request.Request(  # noqa: S310  # our own server
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": content, **headers},
        )
        try:
            with urllib.request.urlopen(request, timeout=60, context=self.trust) as answer:  # noqa: S310  # as above
                warnings = answer.headers.get_all("Warning") or ()
                return Answer(answer.status, _object(answer.read()), warnings)
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, _object(error.read()))

    def create(self, path: str, document: Mapping[str, Any]) -> dict[str, Any]:
        """What an administrator creates must be accepted."""
        answer = self.request("POST", path, document)
        assert answer.status in {200, 201, 202}, f"{path}: {answer}"
        return answer.body

    def get(self, path: str) -> dict[str, Any] | None:
        """The object there, if any."""
        answer = self.request("GET", path)
        return answer.body if answer.status == 200 else None

    def text(self, path: str) -> str:
        """What is answered there in plain text, such as metrics."""
        request = urllib.request.Request(  # noqa: S310  # our own server
            self.url + path, headers={"Authorization": f"Bearer {ADMIN}"}
        )
        with urllib.request.urlopen(request, timeout=30, context=self.trust) as answer:  # noqa: S310  # as above
            return str(answer.read().decode())

    def namespace(self) -> str:
        """A new namespace."""
        name = f"ns-{next(_numbers)}"
        self.create("/api/v1/namespaces", {"metadata": {"name": name}})
        return name

    def account(self, namespace: str, *rules: Mapping[str, Sequence[str]], everywhere: bool = False) -> str:
        """A new ServiceAccount that may do this in its namespace, or in all."""
        name = f"account-{next(_numbers)}"
        self.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": name}})
        api, kind = "/apis/rbac.authorization.k8s.io/v1", "ClusterRole" if everywhere else "Role"
        place = api if everywhere else f"{api}/namespaces/{namespace}"
        self.create(f"{place}/{kind.lower()}s", {"metadata": {"name": name}, "rules": list(rules)})
        self.create(
            f"{place}/{kind.lower()}bindings",
            {
                "metadata": {"name": name},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
                "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
            },
        )
        return name

    def token(self, namespace: str, account: str, **spec: Json) -> str:
        """A token of a ServiceAccount."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        return str(self.create(path, {"spec": spec})["status"]["token"])

    def audited(self, namespace: str, account: str) -> list[Request]:
        """What a ServiceAccount has asked for until now, each request once it was answered."""
        user = f"system:serviceaccount:{namespace}:{account}"
        written = (self._folder / "audit.log").read_bytes()
        lines = written[: written.rfind(b"\n") + 1].splitlines()  # the last one may be half written
        events = (msgspec.json.decode(line, type=_Event) for line in lines if user.encode() in line)
        return [event.request for event in events if event.user.username == user]

    def certificate(self, user: str, group: str = "") -> Pair:
        """A client certificate."""
        return self.authority.pair(user, group=group)

    def _write_files(self, audit: Mapping[str, Any], users: Sequence[str]) -> None:
        tokens = [(ADMIN, "admin"), *((token_of(user), user) for user in users)]
        server = self.authority.pair("127.0.0.1")
        accounts = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        for name, content in {
            "ca.crt": self.authority.pem,
            "server.crt": server.certificate,
            "server.key": server.key,
            "sa.key": accounts,
            "audit.json": json.dumps(dict(audit)).encode(),
            "tokens.csv": "".join(
                f"{token},{user},{user},system:masters\n" for token, user in tokens
            ).encode(),
        }.items():
            (self._folder / name).write_bytes(content)

    def _start(self, name: str, *command: str | Path) -> "subprocess.Popen[bytes]":
        with (self._folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        atexit.register(process.kill)
        return process

    def _wait(self) -> None:
        end = time.monotonic() + _READY_WITHIN
        while time.monotonic() < end:
            for name, process in (("etcd", self._etcd), ("apiserver", self._apiserver)):
                if process.poll() is not None:
                    told = (self._folder / f"{name}.log").read_text(errors="replace")[-1000:]
                    raise AssertionError(f"{name} ended:\n{told}")
            try:
                if self.request("GET", "/readyz").status == 200:
                    return
            except OSError:
                pass  # it does not listen yet
            time.sleep(0.05)
        raise AssertionError("kube-apiserver is not ready")


def token_of(user: str) -> str:
    """The token of one of the users that a cluster was made with."""
    return f"token-of-{user}"


def _object(text: bytes) -> dict[str, Any]:
    """The answer, unless it is plain text."""
    found: dict[str, Any] = json.loads(text) if text.startswith(b"{") else {}
    return found


class _Asked(Struct, frozen=True, rename="camel"):
    """What an audited request was about."""

    api_group: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""


class _User(Struct, frozen=True):
    username: str


class _Outcome(Struct, frozen=True):
    code: int = 0


class _Event(Struct, frozen=True, rename="camel"):
    """A line of the audit log."""

    verb: str
    user: _User
    object_ref: _Asked = _Asked()
    response_status: _Outcome = _Outcome()
    request_uri: str = field(default="", name="requestURI")

    @property
    def request(self) -> Request:
        about = self.object_ref
        resource = "/".join(filter(None, (about.resource, about.subresource)))
        return Request(
            self.verb, about.api_group, resource, about.name, self.response_status.code, self.request_uri
        )


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now: neither program can be told to choose one itself."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def programs(*names: str) -> Path:
    """The folder of these programs: `KUBEBUILDER_ASSETS`, or built now (minutes, once)."""
    given = os.environ.get("KUBEBUILDER_ASSETS")
    if given:
        return Path(given)
    need_go()
    return built(Path(__file__).parent, packages=[f"./cmd/{name}" for name in names], flags=_FLAGS)


@cache
def kube_api() -> KubeApi:
    """The cluster of this run. It starts in a few seconds, once it is built."""
    return KubeApi()
