"""The webhook as an API server calls it: what is refused, whom it trusts, and what its parts do alone."""

import ssl
import time
import urllib.request
from base64 import b64decode, b64encode
from contextlib import ExitStack
from pathlib import Path
from socket import create_connection
from threading import Event, Thread
from typing import Any, Self
from urllib.error import HTTPError

import pytest

from syncret.config.meta import Document, member
from syncret.daemon.admission.authority import DAY, issue, new_authority
from syncret.daemon.admission.keeper import PUBLISHED
from syncret.daemon.admission.rotation import Certificates, Wanted
from tests.real.e2e.process import daemon, free_port, probed
from tests.support.servers.kube.running import ADMIN, KubeApi
from tests.support.servers.kube.webhooks import refuses, registered, trusts

pytestmark = pytest.mark.slow


class Hook:
    """The settings of a webhook in a namespace, and what the API server says through it."""

    def __init__(self, api: KubeApi, namespace: str, kubeconfig: Path) -> None:
        self.api = api
        self.namespace = namespace
        self.port, self.health = free_port(), free_port()
        self.kubeconfig = kubeconfig

    def flags(self, *more: str) -> tuple[str, ...]:
        chosen = {
            "webhook.enabled": "true",
            "webhook.port": self.port,
            "webhook.healthzAddr": f"127.0.0.1:{self.health}",
            "webhook.dnsName": "127.0.0.1",
            "webhook.service": f"{self.namespace}/hook",
            "webhook.secret": f"{self.namespace}/hook",
            "webhook.checkInterval": "1s",
            "kubeconfig": self.kubeconfig,
        }
        settings = (f"--set={name}={value}" for name, value in chosen.items())
        return ("--kubernetes", "--namespace", self.namespace, *settings, *more)

    def create(self, name: str, **spec: Any) -> tuple[int, str]:  # noqa: ANN401  # any member
        path = f"/apis/external-secrets.io/v1/namespaces/{self.namespace}/externalsecrets"
        answer = self.api.request("POST", f"{path}?dryRun=All", {**sync(name), "spec": spec})
        return answer.status, answer.body.get("message", "")

    @property
    def is_ready(self) -> bool:
        return probed(self.health, "readyz")

    @property
    def secret(self) -> dict[str, bytes]:
        found = self.api.get(f"/api/v1/namespaces/{self.namespace}/secrets/hook") or Document()
        return {name: b64decode(value) for name, value in member(found, "data").items()}

    @property
    def annotations(self) -> Document:
        found = self.api.get(f"/api/v1/namespaces/{self.namespace}/secrets/hook") or Document()
        return member(found, "metadata", "annotations")

    def serves(self, authority: bytes) -> bool:
        """Whether a client that trusts this authority alone accepts its certificate."""
        context = ssl.create_default_context(cadata=authority.decode())
        try:
            with create_connection(("127.0.0.1", self.port)) as plain:
                context.wrap_socket(plain, server_hostname="127.0.0.1").close()
        except ssl.SSLCertVerificationError:
            return False
        return True

    def judges(self) -> bool:
        """Whether the API server asks it, and trusts it."""
        return self.is_ready and trusts(self.api) and self.create("x", **GOOD)[0] == 201


GOOD: Document = {"data": [{"secretKey": "a", "remoteRef": {"key": "k"}}], "secretStoreRef": {"name": "s"}}
TWICE: Document = {**GOOD, "data": [*GOOD["data"], *GOOD["data"]]}


def sync(name: str) -> Document:
    metadata = {"name": name}
    return {"apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret", "metadata": metadata}


@pytest.fixture
def hook(api: KubeApi, namespace: str, kubeconfig: Path) -> Hook:
    return Hook(api, namespace, kubeconfig)


def test_the_controller_serves_it_and_sees_to_its_certificate(tmp_path: Path, hook: Hook) -> None:
    with registered(hook.api, hook.port), daemon(tmp_path, None, *hook.flags()) as process:
        process.until(hook.judges, "called by the API server")
        status, message = hook.create("x", **TWICE)
        assert status == 403
        assert "denied the request: duplicate secretKey found: a" in message
        assert sorted(hook.secret) == ["ca.crt", "ca.key", "tls.crt", "tls.key"]
        path = "/validate-external-secrets-io-v1-externalsecret"
        assert process.metric("controller_runtime_webhook_requests_total", webhook=path, code="200") >= 2
        assert process.metric("controller_runtime_webhook_requests_in_flight", webhook=path) == 0
        assert process.stop() == 0
        assert "Traceback" not in process.stderr


def test_a_replica_that_stands_by_serves_it_too(tmp_path: Path, hook: Hook, api: KubeApi) -> None:
    """The active one is killed; the other one has the certificate, and goes on with it."""
    kubeconfig = hook.kubeconfig
    other = Hook(api, hook.namespace, kubeconfig)
    lease = ("--enable-leader-election", f"--set=leaderElection.namespace={hook.namespace}")
    more = (*lease, f"--controller-class={hook.namespace}")
    with ExitStack() as stack:
        stack.enter_context(registered(api, other.port))
        folders = [tmp_path / name for name in ("active", "waiting")]
        for each in folders:
            each.mkdir()
        active = stack.enter_context(daemon(folders[0], None, *hook.flags(*more), ready=False))
        active.until(lambda: hook.is_ready, "its certificate made")
        waiting = stack.enter_context(daemon(folders[1], None, *other.flags(*more), ready=False))
        waiting.until(other.judges, "called by the API server")
        active.process.kill()
        authority = other.secret["ca.crt"]
        waiting.until(lambda: waiting.metric("leader_election_master_status") == 1, "taken over")
        assert other.create("x", **TWICE)[0] == 403
        assert other.secret["ca.crt"] == authority


class Asking(Thread):
    """Somebody who creates objects all the time; `holes` are the answers that no webhook gave."""

    def __init__(self, hook: Hook) -> None:
        super().__init__(name="asks all the time")
        self._hook = hook
        self._end = Event()
        self.answers = 0
        self.holes: list[tuple[int, str]] = []

    def run(self) -> None:
        while not self._end.wait(0.01):
            status, message = self._hook.create("x", **TWICE)
            self.answers += 1
            if status != 403 or "duplicate secretKey" not in message:
                self.holes.append((status, message))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self.join()


def old_secret(hook: Hook) -> tuple[Document, Certificates]:
    """A Secret whose authority has nine months left, and its certificate two."""
    now = time.time()
    wanted = Wanted(("127.0.0.1", f"hook.{hook.namespace}.svc", f"hook.{hook.namespace}.svc.cluster.local"))
    authority = new_authority("the one before", now - 3380 * DAY, 3650 * DAY)
    held = Certificates(authority, issue(authority, wanted.names, now - 30 * DAY, 90 * DAY))
    values = {"ca.crt": held.authority.certificate, "ca.key": held.authority.key}
    values |= {"tls.crt": held.leaf.certificate, "tls.key": held.leaf.key}
    data = {name: b64encode(value).decode() for name, value in values.items()}
    return {"metadata": {"name": "hook", "namespace": hook.namespace}, "data": data}, held


def test_the_authority_is_replaced_while_the_api_server_asks_all_the_time(tmp_path: Path, hook: Hook) -> None:
    document, held = old_secret(hook)
    path = f"/api/v1/namespaces/{hook.namespace}/secrets"
    hook.api.create(path, document)
    served, kept = tmp_path / "served", tmp_path / "kept"
    for each in (served, kept):
        each.mkdir()
    with ExitStack() as stack:
        server = stack.enter_context(daemon(served, None, *hook.flags("--only=webhook"), ready=False))
        stack.enter_context(registered(hook.api, hook.port, held.bundle))
        server.until(lambda: refuses(hook.api), "asked")
        asking = stack.enter_context(Asking(hook))
        keeps = hook.flags("--only=certificates", "--set=webhook.healthzAddr=")
        keeper = stack.enter_context(daemon(kept, None, *keeps, ready=False))
        keeper.until(lambda: PUBLISHED in hook.annotations, "the successor told")
        successor = hook.secret["ca-next.crt"]
        assert hook.secret["ca.crt"] == held.authority.certificate
        long_ago = {"metadata": {"annotations": {PUBLISHED: "2026-01-01T00:00:00Z"}}}
        assert hook.api.request("PATCH", f"{path}/hook", long_ago).status == 200
        keeper.until(lambda: hook.secret["ca.crt"] == successor, "the successor used")
        server.until(lambda: hook.serves(successor), "its certificate served")
        asked = asking.answers
        server.until(lambda: asking.answers > asked + 20, "asked some more")
        assert keeper.stop() == 0
    assert asking.holes == []


def test_metrics_of_a_part_are_for_those_who_may_read_them(tmp_path: Path, hook: Hook, api: KubeApi) -> None:
    pair = api.authority.pair("127.0.0.1")
    (tmp_path / "tls.crt").write_bytes(pair.certificate)
    (tmp_path / "tls.key").write_bytes(pair.key)
    port = free_port()
    secured = ("--set=metricsTls.enabled=true", f"--set=metricsTls.certDir={tmp_path}", "--metrics-auth")
    flags = hook.flags(
        "--only=webhook", f"--set=webhook.certDir={tmp_path}", *secured, f"--set=listen=127.0.0.1:{port}"
    )

    def scraped(token: str) -> int:
        request = urllib.request.Request(f"https://127.0.0.1:{port}/metrics")  # ours
        request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, context=api.trust) as answer:  # noqa: S310  # as above
                return int(answer.status)
        except HTTPError as error:
            with error:
                return error.code

    with daemon(tmp_path, None, *flags, ready=False) as process:
        process.until(lambda: hook.is_ready, "serving")
        assert scraped(ADMIN) == 200
        assert scraped(api.token(hook.namespace, api.account(hook.namespace))) == 403
        assert scraped("nobody") == 401


def test_parts_are_processes_of_their_own(tmp_path: Path, hook: Hook) -> None:
    """One keeps the certificates in the Secret; one serves them from files, and asks no API server."""
    folder, kept, served = (tmp_path / name for name in ("certs", "keeper", "server"))
    for each in (folder, kept, served):
        each.mkdir()
    keeps = hook.flags("--only=certificates", "--set=webhook.healthzAddr=")
    serves = (
        *("--kubernetes", "--only=webhook", f"--port={hook.port}", "--dns-name=127.0.0.1"),
        *(f"--cert-dir={folder}", f"--healthz-addr=127.0.0.1:{hook.health}", "--check-interval=1s"),
    )
    with ExitStack() as stack:
        stack.enter_context(registered(hook.api, hook.port))
        keeper = stack.enter_context(daemon(kept, None, *keeps, ready=False))
        server = stack.enter_context(daemon(served, None, *serves, ready=False))
        keeper.until(lambda: trusts(hook.api), "the authority told")
        server.until(lambda: probed(hook.health, "healthz"), "running")
        assert not hook.is_ready
        for name in ("tls.crt", "tls.key"):
            (folder / name).write_bytes(hook.secret[name])
        server.until(hook.judges, "called by the API server")
        assert hook.create("x", **TWICE)[0] == 403
        assert keeper.stop() == 0
        assert server.stop() == 0
