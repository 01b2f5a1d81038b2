"""Keys and credentials that only this host's TPM opens: a software TPM, and systemd that talks to it."""

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import pytest

from tests.real.systemd.credential_host import ENCRYPTED, FAILED, Host, shown
from tests.real.systemd.installed import PACKAGES, unpack
from tests.real.systemd.test_cache import write
from tests.suites.docs.pages import blocks
from tests.support.debian import ROOT, missing_tools
from tests.support.machine import Machine, booted, until

CACHE_GUIDE: Final = ROOT / "docs" / "guides" / "cache.md"
DEVICE: Final = {"SYSTEMD_TPM2_DEVICE": "swtpm:host=127.0.0.1,port=2321"}
"""Where systemd finds a TPM that is no device of the kernel."""

TPM: Final = """\
[Unit]
Before=syncret.service sealed.service
[Service]
Type=exec
StateDirectory=tpm
ExecStart=/usr/bin/swtpm socket --tpm2 --tpmstate dir=/var/lib/tpm --flags not-need-init,startup-clear \
 --server type=tcp,port=2321,bindaddr=127.0.0.1 --ctrl type=tcp,port=2322,bindaddr=127.0.0.1
ExecStartPost=/bin/sh -c 'until grep -q 0100007F:0911 /proc/net/tcp; do sleep 0.1; done'
[Install]
WantedBy=multi-user.target
"""
SEALER: Final = f"""\
#!/bin/sh
export SYSTEMD_TPM2_DEVICE={DEVICE["SYSTEMD_TPM2_DEVICE"]}
exec /usr/bin/systemd-creds.real "$@"
"""
"""In the place of systemd's program: the daemon gives its environment to none."""

SECRET: Final = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: first}\n"

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(bool(why := missing_tools("mmdebstrap", "systemd-nspawn", "nsenter")), reason=why),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("machine")
    try:
        root = unpack(folder, PACKAGES)
        for block in (*blocks(CACHE_GUIDE, "ini"), *blocks(CACHE_GUIDE, "yaml")):
            if block.title and "syncret" in block.title and "nginx" not in block.title:
                write(root, block.title, block.text)
        write(root, "/etc/systemd/system/tpm.service", TPM)
        write(root, "/etc/systemd/system/sealed.service", shown("sealed.service"))
        write(root, "/etc/systemd/system/syncret.service.d/root.conf", profile())
        write(root, "/etc/syncret/manifests/db.yaml", SECRET)
        sealed = shown("sealed.yaml").replace(
            "systemdCredential: {", "systemdCredential: {encrypt: host+tpm2, "
        )
        write(root, "/etc/syncret/manifests/sealed.yaml", sealed + "  debounce: {quiet: 0s, atMost: 0s}\n")
        program = root / "usr/bin/systemd-creds"
        program.rename(program.with_suffix(".real"))
        program.write_text(SEALER)
        program.chmod(0o755)
        yield root
    finally:
        shutil.rmtree(folder)


def profile() -> str:
    return (ROOT / "systemd" / "deliver-as-root.conf").read_text()


def status(machine: Machine) -> str:
    return machine.run("syncret", "cache", "status", check=False)


def boot(root: Path, console: Path) -> AbstractContextManager[Machine]:
    return booted(root, console, **DEVICE)


def test_what_the_tpm_sealed_opens_after_a_reboot_and_with_no_other_tpm(root: Path, tmp_path: Path) -> None:
    with boot(root, tmp_path / "first") as machine:
        machine.run("systemctl", "enable", "--now", "tpm")
        [init] = [block for block in blocks(CACHE_GUIDE, "console") if block.title == "init"]
        made = machine.run("syncret", "cache", "init", "--tpm2").splitlines()
        assert made == init.text.splitlines()[1:]
        machine.run("systemctl", "enable", "syncret")
        machine.run("systemctl", "restart", "syncret")
        host = Host(machine)
        host.until_told("Delivered", "sealed")
        assert host.start("sealed") == "0"
        assert machine.path("/run/sealed.seen").read_text() == "first"
        assert "0 values" in status(machine)

    with boot(root, tmp_path / "second") as machine:
        host = Host(machine)
        host.until_told("Delivered", "sealed")
        assert "0 values" in status(machine)
        assert host.start("sealed") == "0"
        machine.run("systemctl", "stop", "sealed", "tpm")
        shutil.rmtree(machine.path("/var/lib/tpm"))
        machine.run("systemctl", "start", "tpm")
        assert host.start("sealed") == FAILED
        machine.run("systemctl", "restart", "syncret", check=False)
        until(lambda: machine.property("syncret", "ExecMainStatus") == FAILED, "refused by systemd")
        machine.run("systemctl", "stop", "syncret")
        for name in ("cache-key", "db-password"):
            machine.path(f"{ENCRYPTED}/{name}").unlink()
        machine.run("syncret", "cache", "init", "--tpm2")
        machine.run("systemctl", "start", "syncret")
        until(lambda: host.start("sealed") == "0", "sealed with the other one")
        assert "sealed with another key" in status(machine)
        assert "reload the daemon" in machine.run("syncret", "cache", "clear")
        machine.run("systemctl", "reload", "syncret")
        assert "0 values" in status(machine)
