"""A booted Debian with nginx, whose certificate is delivered as the guide says."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.real.systemd.installed import unpack
from tests.suites.docs.pages import blocks
from tests.support.debian import ROOT
from tests.support.machine import Machine, booted, until

GUIDE = ROOT / "docs" / "guides" / "delivery.md"
PACKAGES = (
    "dbus",
    "nginx-light",
    "openssl",
    "polkitd",
    "postgresql",
    "python3",
    "python3-venv",
    "systemd",
    "systemd-sysv",
    "wrk",
)
SITE = """\
server {
    listen 127.0.0.1:443 ssl default_server;
    ssl_certificate /srv/syncret/tls/server.pem;
    ssl_certificate_key /srv/syncret/tls/server.key;
}
"""
DROP_IN = "[Service]\nReadWritePaths=/srv/syncret\n"
EXPORTED = ("-f", "/etc/syncret/manifests")


def shown(title: str) -> str:
    """A file of the guide."""
    [block] = [
        each for kind in ("yaml", "ini", "javascript") for each in blocks(GUIDE, kind) if each.title == title
    ]
    return block.text


@contextmanager
def nginx_machine(folder: Path) -> Generator[Machine, None, None]:
    """The host, booted; it is removed at the end."""
    console = folder / "console"
    try:
        root = unpack(folder, PACKAGES)
        configure(root)
        with booted(root, console) as machine:
            yield machine
    finally:
        shutil.rmtree(folder / "root", ignore_errors=True)
        if console.exists():
            print(f"\n{console.read_text(errors='replace')}")


def configure(root: Path) -> None:
    """What the guide says, and a site."""
    for path in ("/etc/polkit-1/rules.d/50-syncret.rules", "/etc/systemd/system/nginx-check.service"):
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(shown(path))
        file.chmod(0o644)
    drop_in = root / "etc/systemd/system/syncret.service.d/delivery.conf"
    drop_in.parent.mkdir(parents=True)
    drop_in.write_text(DROP_IN)
    (root / "srv/syncret").mkdir(mode=0o755)
    (root / "etc/nginx/sites-enabled/tls").write_text(SITE)


class Host:
    """The host, and the pairs that its Secret has had."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def pair(self, name: str) -> tuple[str, str]:
        """A new certificate and its key."""
        made = f"/tmp/{name}"
        subject = f"/CN={name}"
        self.machine.run(
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
            ),
            *("-days", "2", "-subj", subject, "-keyout", f"{made}.key", "-out", f"{made}.pem"),
        )
        return tuple(self.machine.path(f"{made}.{end}").read_text() for end in ("pem", "key"))  # type: ignore[return-value]

    def put(self, certificate: str, key: str) -> None:
        """Let the Secret have them, as a manifest that a person edits."""
        lines = {
            name: "".join(f"    {line}\n" for line in text.splitlines())
            for name, text in (("tls.crt", certificate), ("tls.key", key))
        }
        data = "".join(f"  {name}: |\n{text}" for name, text in lines.items())
        manifest = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: tls}}\nstringData:\n{data}"
        path = self.machine.path("/etc/syncret/manifests/tls.yaml")
        fresh = path.with_name(".tls.new")
        fresh.write_text(manifest)
        fresh.rename(path)

    def delivery(self, text: str = "", **changes: str) -> None:
        text = (text or shown("web.yaml")) + "  debounce: {quiet: 0s, atMost: 0s}\n  minInterval: 0s\n"
        for old, new in changes.items():
            text = text.replace(old, new)
        self.machine.path("/etc/syncret/manifests/web.yaml").write_text(text)

    def also(self, name: str, path: str) -> None:
        """One more Delivery of the same Secret and unit."""
        text = shown("web.yaml").replace("name: web", f"name: {name}").replace("/srv/syncret/tls", path)
        text = text.replace("  check: {unit: nginx-check.service}\n", "")
        self.machine.path(f"/etc/syncret/manifests/{name}.yaml").write_text(text)

    def served(self) -> str:
        """The name in the certificate that nginx serves."""
        script = (
            "openssl s_client -connect 127.0.0.1:443 </dev/null 2>/dev/null | openssl x509 -noout -subject"
        )
        return self.machine.run("sh", "-c", script, check=False).strip().removeprefix("subject=CN = ")

    def told(self) -> str:
        return self.machine.run("syncret", "explain", "Delivery/web", check=False)

    def ready(self, reason: str) -> bool:
        return reason in self.told()


@contextmanager
def running(machine: Machine, **changes: str) -> Generator[Host, None, None]:
    """nginx with a first pair, delivered before it started."""
    found = Host(machine)
    machine.path("/etc/syncret/syncret.yaml").write_text("manifests: [/etc/syncret/manifests]\n")
    machine.run("chown", "syncret", "/srv/syncret")
    found.delivery(**changes)
    found.put(*found.pair("first"))
    try:
        machine.run("systemctl", "start", "syncret")
        until(lambda: machine.path("/srv/syncret/tls/server.pem").exists(), "delivered")
        machine.run("systemctl", "restart", "nginx")
        yield found
    finally:
        print(found.told())
        for unit in ("syncret", "nginx"):  # a proof that goes on ends while its server is there
            machine.run("systemctl", "stop", unit, check=False)
        print(f"\n{machine.journal('syncret')}{machine.journal('nginx')}{machine.journal('nginx-check')}")
        machine.run("systemctl", "reset-failed", check=False)
        machine.run("sh", "-c", "rm -rf /srv/syncret/* /srv/syncret/..syncret* /etc/syncret/manifests/*")
        machine.run("systemctl", "clean", "--what=runtime", "--what=state", "syncret", check=False)
