"""A booted host whose units ask for credentials, as the guide says."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from tests.suites.docs.pages import blocks
from tests.support.debian import ROOT
from tests.support.machine import Machine, until

GUIDE = ROOT / "docs" / "guides" / "credentials.md"
SETTINGS = "manifests: [/etc/syncret/manifests]\ncredentialWait: 3s\n"
RULE_FILE = "/etc/polkit-1/rules.d/51-credentials.rules"
RULE = """\
polkit.addRule(function(action, subject) {
    if (action.id == "org.freedesktop.systemd1.manage-units" && subject.user == "syncret") {
        return polkit.Result.YES;
    }
});
"""
PAIR = """\
[Service]
Type=oneshot
LoadCredential=cert:/run/syncret/credentials.sock
LoadCredential=key:/run/syncret/credentials.sock
ExecStart=/bin/sh -c 'cd "$CREDENTIALS_DIRECTORY"; echo "$(cat cert) $(cat key)" >> /run/pairs'
"""
STRANGER = """\
[Service]
Type=exec
LoadCredential=db-password:/run/syncret/credentials.sock
ExecStart=/bin/sleep infinity
"""
RENAMED = """\
[Service]
Type=exec
LoadCredentialEncrypted=other
ExecStart=/bin/sleep infinity
"""
PLAIN = """\
[Service]
Type=oneshot
LoadCredential=db-password
ExecStart=/bin/sh -c 'cat "$CREDENTIALS_DIRECTORY/db-password" > /run/sealed.seen'
"""
ENCRYPTED = "/etc/credstore.encrypted"
FAILED = "243"
"""What systemd says of a unit whose credentials it could not set up."""


def shown(title: str) -> str:
    """A file of the guide."""
    [block] = [
        each for kind in ("yaml", "ini", "console") for each in blocks(GUIDE, kind) if each.title == title
    ]
    return block.text


class Host:
    """The host, its manifests and its units."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.manifests = machine.path("/etc/syncret/manifests")

    def put(self, name: str, text: str) -> None:
        """Write a manifest in one step."""
        fresh = self.manifests / f".{name}"
        fresh.write_text(text)
        fresh.rename(self.manifests / f"{name}.yaml")

    def secret(self, name: str, **data: str) -> None:
        lines = "".join(f'  {key}: "{value}"\n' for key, value in data.items())
        self.put(
            f"secret-{name}",
            f"apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\nstringData:\n{lines}",
        )

    def delivery(self, *, quick: bool = True) -> None:
        fast = "  debounce: {quiet: 0s, atMost: 0s}\n  minInterval: 0s\n" if quick else ""
        self.put("app", shown("app.yaml") + fast)

    def start(self, unit: str) -> str:
        """Start a unit; its status, if that fails."""
        self.machine.run("systemctl", "start", unit, check=False)
        return self.machine.property(unit, "ExecMainStatus")

    def seen(self) -> str:
        """What the application found at its start."""
        path = self.machine.path("/run/app.seen")
        return path.read_text() if path.exists() else ""

    def told(self, delivery: str = "app") -> str:
        return self.machine.run("syncret", "explain", f"Delivery/{delivery}", check=False)

    def until_told(self, what: str, delivery: str = "app") -> None:
        until(lambda: what in self.told(delivery), f"told {what}")

    def in_background(self, unit: str) -> threading.Thread:
        """Let a unit start while something else happens."""
        thread = threading.Thread(target=self.start, args=(unit,))
        thread.start()
        return thread


def pair() -> str:
    text = shown("app.yaml").partition("  reload:")[0]
    return (
        text.replace("name: app", "name: pair")
        .replace("secret: db", "secret: tls")
        .replace('[app.service, "worker@*.service"]', "[pair.service]")
        .replace("password: db-password", "cert: cert, key: key")
    ) + "  debounce: {quiet: 0s, atMost: 0s}\n"


@contextmanager
def asking(machine: Machine, units: dict[str, str], rule: str = RULE) -> Generator[None, None, None]:
    """These units, the rule, and the socket as the guide enables it."""
    for unit, text in units.items():
        machine.path(f"/etc/systemd/system/{unit}.service").write_text(text)
    rules = machine.path(RULE_FILE)
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text(rule)
    rules.chmod(0o644)
    machine.path("/etc/syncret/syncret.yaml").write_text(SETTINGS)
    machine.run("systemctl", "daemon-reload")
    for line in shown("enable").splitlines():
        machine.run(*line.removeprefix("# ").split())
    machine.run("systemctl", "stop", "syncret")
    try:
        yield
    finally:
        machine.run("systemctl", "disable", "--now", "syncret-credentials.socket", check=False)
        machine.run("systemctl", "stop", "syncret", check=False)
        rules.unlink()


@contextmanager
def running(machine: Machine) -> Generator[Host, None, None]:
    """The daemon without a past; what units and Deliveries leave is removed at the end."""
    found = Host(machine)
    machine.path("/etc/syncret/syncret.yaml").write_text(SETTINGS)
    machine.run("systemctl", "start", "syncret")
    try:
        yield found
    finally:
        print(found.told())
        # In this order: a unit that is just being restarted would start the daemon again through the socket,
        # and the daemon, while it stops, may still restart a unit.
        machine.run("systemctl", "stop", "syncret-credentials.socket")
        machine.run("systemctl", "stop", "syncret")
        machine.run("systemctl", "stop", "app", "stranger", "pair", check=False)
        print(f"\n{machine.journal('syncret')}{machine.journal('app')}")
        machine.run("sh", "-c", "rm -rf /etc/syncret/manifests/* /run/app.seen /run/pairs")
        machine.run("systemctl", "reset-failed", check=False)
        machine.run("systemctl", "clean", "--what=runtime", "--what=state", "syncret", check=False)
        machine.run("systemctl", "start", "syncret-credentials.socket")
