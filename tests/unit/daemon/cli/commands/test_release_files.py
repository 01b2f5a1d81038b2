"""`syncret release` with encrypted files: manifests on the way out, values on the way in."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyrage import x25519

from syncret.config.meta import Document
from syncret.config.text.yaml import parse_text, to_yaml
from syncret.daemon.cli.main import main
from syncret.daemon.cli.releasing import age, sops
from tests.support.canary import CANARY, ENCODED, leaks

KEY = x25519.Identity.generate()
TO = str(KEY.to_public())
MODULE = """\
apiVersion: syncret.dev/v1alpha1
kind: Module
metadata: {name: app}
spec:
  config:
    host: string
    data: {password: {$opm: secret, $secretName: db, $dataKey: password}}
  container: {image: x, env: {HOST: {value: '${config.host}'}, PASSWORD: {from: config.data.password}}}
"""
VALUES: Document = {"host": "h", "data": {"password": {"value": CANARY}}}
STORE = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: keys}
spec: {provider: {fake: {data: [{key: age, value: '{"key": "%s"}'}]}}}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOPS_AGE_KEY", raising=False)
    monkeypatch.delenv("SOPS_AGE_KEY_FILE", raising=False)
    Path("module.yaml").write_text(MODULE)
    Path("values.yaml").write_text(to_yaml(VALUES))
    Path("key.txt").write_text(f"# created today\n\n{KEY}\n")
    encrypted = sops.encrypt(VALUES, {TO: KEY.to_public()}, datetime.now(UTC))
    Path("values.enc.yaml").write_text(to_yaml(encrypted))
    Path("store.yaml").write_text(STORE % KEY)


def release(*arguments: str, values: str = "values.yaml") -> int:
    return main(["release", "-f", "module.yaml", "-f", values, *arguments])


def documents(text: str) -> list[Document]:
    return [each.value for each in parse_text(text.encode())]


def test_secrets_of_a_folder_are_encrypted(capfd: pytest.CaptureFixture[str]) -> None:
    assert release("--output-dir", "out", "--encrypt-to", TO) == 0
    out, err = capfd.readouterr()
    assert out.splitlines() == ["out/secret-db.yaml", "out/deployment-app.yaml"]
    files = {path.name: path.read_text() for path in Path("out").iterdir()}
    assert leaks("a file", "".join(files.values()) + out + err) == []
    (secret,) = documents(files["secret-db.yaml"])
    (plain,) = sops.decrypt([secret], [KEY])
    assert plain["data"] == {"password": ENCODED}
    assert documents(files["deployment-app.yaml"])[0]["kind"] == "Deployment"
    assert {oct(path.stat().st_mode & 0o777) for path in Path("out").iterdir()} == {"0o600"}


def test_a_folder_holds_what_the_release_makes_now(capfd: pytest.CaptureFixture[str]) -> None:
    assert release("--output-dir", "out", "--encrypt-to", TO) == 0
    Path("out/kustomization.yaml").write_text("resources: []\n")
    Path("module.yaml").write_text(MODULE.replace("$secretName: db", "$secretName: database"))
    assert release("--output-dir", "out", "--encrypt-to", TO) == 0
    assert "out/secret-db.yaml: removed" in capfd.readouterr().err
    names = {path.name for path in Path("out").iterdir()}
    assert names == {"secret-database.yaml", "deployment-app.yaml", "kustomization.yaml"}


def test_values_get_into_a_file_in_plain_text_only_if_asked(capfd: pytest.CaptureFixture[str]) -> None:
    assert release("--output-dir", "out") == 2
    out, err = capfd.readouterr()
    assert "the Secret db holds values, which no file gets in plain text unless asked for" in err
    assert leaks("output", out + err) == []
    assert not Path("out").exists()
    assert release("--output-dir", "out", "--show-values") == 0
    assert documents(Path("out/secret-db.yaml").read_text())[0]["data"] == {"password": ENCODED}


def test_an_error_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    Path("values.yaml").write_text("host: 1\n")
    assert release("--output-dir", "out", "--encrypt-to", TO, "-o", "json") == 2
    assert len(json.loads(capfd.readouterr().out)["problems"]) == 2
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["--encrypt-to", TO], "--encrypt-to needs --output-dir", id="no folder"),
        pytest.param(
            ["--output-dir", "out", "--encrypt-to", CANARY],
            "a recipient of --encrypt-to is none",
            id="no key",
        ),
        pytest.param(
            ["--output-dir", "out", "--encrypt-to", f"ssh-rsa {CANARY}"], "is none of age", id="no SSH key"
        ),
        pytest.param(
            ["--output-dir", "module.yaml", "--encrypt-to", TO],
            "--output-dir: cannot be written",
            id="a file",
        ),
    ],
)
def test_what_cannot_be_written(arguments: list[str], said: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert release(*arguments) == 2
    out, err = capfd.readouterr()
    assert said in err
    assert leaks("output", out + err) == []


@pytest.mark.parametrize(
    "identity", ["key.txt", "@file(key.txt)", "@env(MY_KEY)", "@secret(store=keys, path=age, key=key)"]
)
def test_encrypted_values_are_read(
    identity: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", str(KEY))
    arguments = ("-f", "store.yaml", "--identity", identity, "--show-values", "-o", "json")
    assert release(*arguments, values="values.enc.yaml") == 0
    secret, deployment = json.loads(capfd.readouterr().out)["items"]
    assert secret["data"] == {"password": ENCODED}
    assert deployment["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] == "h"


@pytest.mark.parametrize(("name", "value"), [("SOPS_AGE_KEY", str(KEY)), ("SOPS_AGE_KEY_FILE", "key.txt")])
def test_the_identity_of_the_environment(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert release(values="values.enc.yaml") == 0


@pytest.mark.parametrize(
    ("identity", "said"),
    [
        pytest.param("", "is encrypted with SOPS, and no identity is given", id="none"),
        pytest.param("other.txt", "is encrypted for other keys of age", id="another"),
        pytest.param("values.yaml", "an identity of age cannot be read", id="no identity"),
        pytest.param("missing", "the file of the identity: there is no such file", id="no file"),
        pytest.param(
            "@env(NOT_SET_AT_ALL)", "--identity: the variable NOT_SET_AT_ALL is not set", id="no variable"
        ),
        pytest.param("@gone(x)", "--identity: there is no tag @gone", id="no tag"),
        pytest.param("@secret(store=none, path=a, key=b)", "there is no store none", id="no store"),
    ],
)
def test_without_the_identity_nothing_is_read(
    identity: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("other.txt").write_text(str(x25519.Identity.generate()))
    assert release("--identity", identity, "-o", "json", values="values.enc.yaml") == 2
    out, err = capfd.readouterr()
    told = [each for each in json.loads(out)["problems"] if each["file"] == "values.enc.yaml"]
    assert [(each["path"], said in each["message"]) for each in told] == [("sops", True)]
    assert leaks("output", out + err) == []
    assert str(KEY) not in out + err


def test_a_wrong_mac_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    text = Path("values.enc.yaml").read_text()
    Path("values.enc.yaml").write_text(text.replace("host: h\n", "host: evil\n"))
    assert release("--identity", "key.txt", values="values.enc.yaml") == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert "its MAC is wrong" in err


def test_without_the_library(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        assert name == "pyrage"

    monkeypatch.setattr(age, "find_spec", missing)
    assert release("--output-dir", "out", "--encrypt-to", TO) == 2
    assert release("--identity", "key.txt", values="values.enc.yaml") == 2
    assert capfd.readouterr().err.count("install syncret with its extra: syncret[age]") == 2
