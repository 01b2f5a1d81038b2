"""Encrypted manifests and values beside the real sops: theirs reads ours, ours reads theirs."""

import json
from pathlib import Path

import pytest
from pyrage import x25519

from syncret.daemon.cli.main import main
from tests.support.servers.sops.running import run

pytestmark = pytest.mark.slow

KEY = x25519.Identity.generate()
TO = str(KEY.to_public())
WRITE = ("release", "-f", "module.yaml", "-f", "values.yaml", "--output-dir", "out", "--encrypt-to")
ENVIRONMENT = {"SOPS_AGE_KEY": str(KEY)}
MODULE = """\
apiVersion: syncret.dev/v1alpha1
kind: Module
metadata: {name: app}
spec:
  config:
    port: int
    ratio: number
    debug: bool
    list: list
    password: {$opm: secret, $secretName: db, $dataKey: password}
    empty: {$opm: secret, $secretName: db, $dataKey: empty}
  secrets: {db: {immutable: true}}
  container: {image: x, env: {ALL: {value: '${config.port} ${config.ratio} ${config.debug}'}}}
"""
VALUES = """\
# a comment is encrypted, too
port: 80
ratio: 1.5
debug: true
list: [a, 2, {b: false}, 1.0e+21, 0.00001, null, "2026-01-01"]
password:
  value: "ünï\\ncode ENC[x]"  # beside it
empty: {value: ""}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("module.yaml").write_text(MODULE)
    Path("values.yaml").write_text(VALUES)
    Path("key.txt").write_text(str(KEY))


def items(values: str, capfd: pytest.CaptureFixture[str]) -> object:
    """What a release of these values is rendered to."""
    arguments = ["-f", "module.yaml", "-f", values, "--identity", "key.txt", "--show-values", "-o", "json"]
    assert main(["release", *arguments]) == 0
    return json.loads(capfd.readouterr().out)["items"]


def test_sops_decrypts_what_we_encrypted(capfd: pytest.CaptureFixture[str]) -> None:
    plain = items("values.yaml", capfd)
    assert main([*WRITE, TO]) == 0
    (file,) = Path("out").glob("secret-*.yaml")
    done = run("-d", "--output-type", "json", str(file), environment=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == plain[0]  # type: ignore[index]  # a list of manifests


def test_sops_refuses_ours_once_it_was_changed() -> None:
    assert main([*WRITE, TO]) == 0
    (file,) = Path("out").glob("secret-*.yaml")
    file.write_text(file.read_text().replace("type: Opaque", "type: evil"))
    done = run("-d", str(file), environment=ENVIRONMENT)
    assert done.returncode != 0
    assert "MAC mismatch" in done.stderr


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param((), id="all values"),
        pytest.param(("--encrypted-regex", "^password$"), id="some values"),
        pytest.param(("--encrypted-regex", "^password$", "--mac-only-encrypted"), id="a digest of some"),
    ],
)
def test_we_decrypt_what_sops_encrypted(flags: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    plain = items("values.yaml", capfd)
    done = run("-e", "--age", TO, *flags, "values.yaml")
    assert done.returncode == 0, done.stderr
    Path("values.enc.yaml").write_text(done.stdout)
    assert items("values.enc.yaml", capfd) == plain
    changed = done.stdout.replace("port:", "prot:", 1)
    assert changed != done.stdout
    Path("values.enc.yaml").write_text(changed)
    assert main(["release", "-f", "module.yaml", "-f", "values.enc.yaml", "--identity", "key.txt"]) == 2


def test_documents_of_one_file_have_one_digest(capfd: pytest.CaptureFixture[str]) -> None:
    """A Release and a Secret that a tag reads, encrypted together."""
    release = "apiVersion: syncret.dev/v1alpha1\nkind: Release\nspec:\n  values:\n"
    values = "".join(f"    {line}\n" for line in VALUES.splitlines())
    secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: b}\n"
    Path("both.yaml").write_text(release + values + secret)
    plain = items("values.yaml", capfd)
    done = run("-e", "--age", TO, "--encrypted-regex", "^(password|stringData)$", "both.yaml")
    assert done.returncode == 0, done.stderr
    Path("both.enc.yaml").write_text(done.stdout)
    assert items("both.enc.yaml", capfd) == plain
    Path("both.enc.yaml").write_text(done.stdout.replace("name: s", "name: t"))
    assert main(["release", "-f", "module.yaml", "-f", "both.enc.yaml", "--identity", "key.txt"]) == 2
    assert "its MAC is wrong" in capfd.readouterr().err
