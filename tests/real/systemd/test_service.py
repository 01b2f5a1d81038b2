"""The service under a real systemd: ready, reloaded, hung and restarted, given a credential, stopped."""

import shutil
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.systemd.installed import HOST_PAGE, PACKAGES, unpack
from tests.suites.docs.pages import blocks
from tests.support.debian import missing_tools
from tests.support.machine import Machine, booted, until

APP_START = "/bin/sh -c 'cat $CREDENTIALS_DIRECTORY/password > /tmp/app.seen; exec sleep 1000'"
"""An application that remembers what systemd gave it at its start."""
SECRETS = "/run/syncret/secrets/default"
SETTINGS = "manifests: [/etc/syncret/manifests]\n"
MANIFESTS = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: demo, namespace: default}
spec:
  provider:
    fake:
      data:
        - {key: database, value: '{"user": "app", "password": "first"}'}
        - {key: replica, value: '{"user": "app", "password": "second"}'}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: database, namespace: default}
spec:
  refreshInterval: 1h
  secretStoreRef: {kind: SecretStore, name: demo}
  dataFrom:
    - extract: {key: database}
"""
# A Secret that is in no manifest: systemd brings it as a credential. It goes to the store and comes back.
CREDENTIAL = """\
---
apiVersion: external-secrets.io/v1alpha1
kind: PushSecret
metadata: {name: token, namespace: default}
spec:
  refreshInterval: 1h
  secretStoreRefs: [{kind: SecretStore, name: demo}]
  selector: {secret: {name: vault}}
  data:
    - match: {secretKey: token, remoteRef: {remoteKey: pushed-token}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: token, namespace: default}
spec:
  refreshInterval: 1s
  secretStoreRef: {kind: SecretStore, name: demo}
  data:
    - {secretKey: token, remoteRef: {key: pushed-token}}
"""
# The shipped unit, but quicker to notice a hang, and quicker to give up on it.
QUICK = """\
[Service]
LoadCredential=vault.token:/etc/credstore/vault.token
WatchdogSec=3s
TimeoutAbortSec=2s
"""

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(why := missing_tools("mmdebstrap", "systemd-nspawn", "nsenter")), reason=why),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A Debian with syncret installed as a package would do it."""
    folder = tmp_path_factory.mktemp("machine")
    try:
        root = unpack(folder, PACKAGES)
        configure(root)
        yield root
    finally:
        shutil.rmtree(folder)


def configure(root: Path) -> None:
    """An administrator's own files."""
    drop_in = root / "etc/systemd/system/syncret.service.d"
    drop_in.mkdir(parents=True)
    (drop_in / "quick.conf").write_text(QUICK)
    token = root / "etc/credstore/vault.token"
    token.touch(mode=0o600)
    token.write_text("brought by systemd")
    for block in blocks(HOST_PAGE, "ini"):
        if block.title:
            text = block.text.replace("/usr/local/bin/app", APP_START)
            (root / "etc/systemd/system" / block.title).write_text(text)


@pytest.fixture(scope="module")
def machine(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    console = tmp_path_factory.mktemp("console") / "log"
    try:
        with booted(root, console) as machine:
            yield machine
    finally:
        print(f"\n{console.read_text(errors='replace')}")


@pytest.fixture
def service(machine: Machine) -> Iterator[Machine]:
    """The service, started with the manifests above and no past."""
    machine.path("/etc/syncret/syncret.yaml").write_text(SETTINGS)
    machine.path("/etc/syncret/manifests/demo.yaml").write_text(MANIFESTS)
    machine.run("systemctl", "reset-failed")
    machine.run("systemctl", "start", "syncret")
    try:
        yield machine
    finally:
        machine.run("systemctl", "stop", "syncret", check=False)
        print(f"\n{machine.journal('syncret')}")
        machine.run("systemctl", "clean", "--what=runtime", "--what=state", "syncret", check=False)
        machine.run("journalctl", "--rotate", "--vacuum-time=1s", "--quiet", check=False)


def secret(machine: Machine, key: str) -> Path:
    return machine.path(f"{SECRETS}/database/{key}")


def test_it_is_ready_when_the_files_are_there(service: Machine) -> None:
    assert secret(service, "password").read_text() == "first"
    assert service.property("syncret", "ActiveState") == "active"
    assert service.property("syncret", "StatusText")


def test_the_files_are_the_services_own_and_nobody_elses(service: Machine) -> None:
    uid = int(service.run("id", "--user", "syncret"))
    found = secret(service, "password").stat()
    assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (uid, 0o600)
    pid = service.property("syncret", "MainPID")
    status = dict(line.split(":\t", 1) for line in service.run("cat", f"/proc/{pid}/status").splitlines())
    assert status["Uid"].split() == [str(uid)] * 4
    assert {int(status[f"Cap{name}"], 16) for name in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {0}


def test_only_root_and_the_service_itself_may_ask(service: Machine) -> None:
    told = service.run("syncret", "status")
    assert "ExternalSecret" in told
    assert "first" not in told
    others = service.run("setpriv", "--reuid=nobody", "--clear-groups", "syncret", "status", check=False)
    assert "ExternalSecret" not in others


def test_an_edited_manifest_reaches_the_file(service: Machine) -> None:
    manifest = service.path("/etc/syncret/manifests/demo.yaml")
    manifest.write_text(MANIFESTS.replace("extract: {key: database}", "extract: {key: replica}"))
    until(lambda: secret(service, "password").read_text() == "second", "the new value", seconds=10)


def test_a_reload_reads_the_settings_again_in_the_same_process(service: Machine) -> None:
    before = service.property("syncret", "MainPID")
    service.path("/etc/syncret/syncret.yaml").write_text(SETTINGS + "logLevel: debug\n")
    service.run("systemctl", "reload", "syncret")
    until(lambda: '"level": "debug"' in service.journal("syncret"), "logging as the new settings say")
    until(lambda: service.property("syncret", "ActiveState") == "active", "active again")
    assert service.property("syncret", "MainPID") == before
    assert service.property("syncret", "NRestarts") == "0"


def test_a_loop_that_hangs_is_restarted_by_the_watchdog(service: Machine) -> None:
    before = service.property("syncret", "MainPID")
    service.run("systemctl", "kill", "--kill-who=main", f"--signal={signal.SIGSTOP.name}", "syncret")
    until(lambda: service.property("syncret", "NRestarts") == "1", "restarted")
    until(lambda: service.property("syncret", "ActiveState") == "active", "active again")
    assert service.property("syncret", "MainPID") != before
    assert "Watchdog timeout" in service.journal("syncret")
    assert secret(service, "password").read_text() == "first"


def test_a_credential_of_systemd_is_a_secret_that_resources_may_use(service: Machine) -> None:
    service.path("/etc/syncret/manifests/credential.yaml").write_text(CREDENTIAL)
    try:
        token = service.path(f"{SECRETS}/token/token")
        until(lambda: token.exists() and token.read_text() == "brought by systemd", "the token in a file")
        assert not service.path(f"{SECRETS}/vault").exists()
    finally:
        service.path("/etc/syncret/manifests/credential.yaml").unlink()


def test_an_application_is_started_with_the_secret(service: Machine) -> None:
    seen = service.path("/tmp/app.seen")
    service.run("systemctl", "start", "app.service")
    try:
        until(lambda: seen.exists() and seen.read_text() == "first", "started with the secret")
    finally:
        service.run("systemctl", "stop", "app.service", check=False)


def test_a_stop_is_clean_and_leaves_the_files(service: Machine) -> None:
    service.run("systemctl", "stop", "syncret")
    assert service.property("syncret", "Result") == "success"
    assert service.property("syncret", "ExecMainStatus") == "0"
    assert secret(service, "password").read_text() == "first"


def test_wrong_settings_stop_it_for_good(machine: Machine) -> None:
    machine.path("/etc/syncret/syncret.yaml").write_text("manifests: 7\n")
    machine.run("systemctl", "start", "syncret", check=False)
    until(lambda: machine.property("syncret", "ActiveState") == "failed", "failed")
    assert machine.property("syncret", "ExecMainStatus") == "2"
    assert machine.property("syncret", "NRestarts") == "0"
    machine.run("systemctl", "reset-failed")
