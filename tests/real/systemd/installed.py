"""A Debian with the product installed as docs/homes/host.md says, for the tests that boot one."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.suites.docs.pages import blocks
from tests.support.debian import ROOT, SUITE, root_tar, run, wheels

HOST_PAGE = ROOT / "docs" / "homes" / "host.md"
PACKAGES = (
    "dbus",
    "libtss2-esys-3.0.2-0",
    "libtss2-mu0",
    "libtss2-rc0",
    "libtss2-tcti-swtpm0",
    "nginx-light",
    "openssl",
    "python3",
    "python3-venv",
    "swtpm",
    "systemd",
    "systemd-sysv",
)
"""Of hosts without polkit: one list for all, as each other root takes half a minute to make."""


def unpack(folder: Path, packages: Sequence[str], *, suite: str = SUITE) -> Path:
    """A root with these packages and syncret in it."""
    root = folder / "root"
    root.mkdir()
    run(
        "tar",
        "--extract",
        f"--file={root_tar(packages, variant='minbase', suite=suite)}",
        f"--directory={root}",
    )
    (root / "etc/nginx/sites-enabled/default").unlink(missing_ok=True)  # it listens on every address
    install(root, suite=suite)
    return root


def install(root: Path, *, suite: str = SUITE) -> None:
    """What the page says, with the machine's Python and no network."""
    clone = root / "media" / "clone"
    for folder in ("config", "daemon", "providers", "requirements", "systemd"):
        shutil.copytree(ROOT / folder, clone / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, clone)
    [shown] = [block for block in blocks(HOST_PAGE, "console") if block.title == "install"]
    commands = [line.removeprefix("# ") for line in shown.text.splitlines()]
    nspawn = ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network"]
    pip = ["--setenv=PIP_NO_INDEX=1", "--setenv=PIP_FIND_LINKS=/wheels", "--chdir=/media/clone"]
    script = "\n".join(["set -eu", *commands])
    run(*nspawn, *pip, f"--bind-ro={wheels(suite)}:/wheels", f"--directory={root}", "sh", "-c", script)
