"""exec as a person sees it: the program gets the values, and nothing else of ours is left."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from syncret.config.meta import Document
from syncret.config.text.yaml import to_yaml
from syncret.daemon.cli.main import main
from tests.support.nasty_values import NASTY_VALUES
from tests.support.servers.small_vault import SmallVault, served, vault_sets, vault_store

pytestmark = pytest.mark.slow  # each becomes a process

SYNCRET = Path(sys.executable).parent / "syncret"
REPORT = (
    "import json, os, resource, signal; print(json.dumps({"
    "'env': dict(os.environ), 'fds': sorted(os.listdir('/proc/self/fd')), 'pid': os.getpid(), "
    "'core': resource.getrlimit(resource.RLIMIT_CORE), 'files': resource.getrlimit(resource.RLIMIT_NOFILE), "
    "'status': open('/proc/self/status').read()}))"
)
STORE = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: demo}
spec: {provider: {fake: {data: [{key: a, value: s3cr3t}, {key: b, value: other}]}}}
"""
LOGIN = """\
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {token: hidden}
"""


def external_secret(name: str, keys: Mapping[str, str]) -> str:
    data = ", ".join(f"{{secretKey: {key}, remoteRef: {{key: {remote}}}}}" for key, remote in keys.items())
    return f"""\
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: {name}, labels: {{app: {name}}}}}
spec: {{secretStoreRef: {{name: demo}}, data: [{data}]}}
"""


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    path = tmp_path / "manifests.yaml"
    path.write_text(STORE + LOGIN + external_secret("db", {"db-password": "a"}))
    return path


def run(*words: object, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [SYNCRET, "exec", *map(str, words)],
        env={"PATH": os.environ["PATH"], "HOME": "/h", **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def test_the_program_takes_the_place_of_the_command(manifests: Path, tmp_path: Path) -> None:
    (tmp_path / "credentials").mkdir()
    before = resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_NOFILE)
    process = subprocess.Popen(
        [SYNCRET, "exec", "-f", manifests, "--", sys.executable, "-c", REPORT],
        env={
            **os.environ,
            "SYNCRET_LOG_LEVEL": "error",
            "CREDENTIALS_DIRECTORY": str(tmp_path / "credentials"),
        },
        stdout=subprocess.PIPE,
        pass_fds=(),
    )
    out, _ = process.communicate()
    found = json.loads(out)
    assert found["pid"] == process.pid
    assert found["env"]["DB_PASSWORD"] == "s3cr3t"
    assert "TOKEN" not in found["env"]
    assert "CREDENTIALS_DIRECTORY" not in found["env"]
    assert not [name for name in found["env"] if name.startswith("SYNCRET_")]
    assert len(found["fds"]) == 4  # the three streams, and the one that lists them
    assert (tuple(found["core"]), tuple(found["files"])) == before
    assert "SigBlk:\t0000000000000000" in found["status"]


def test_signals_that_python_ignores_are_as_a_program_expects(manifests: Path) -> None:
    done = run("-f", manifests, "--", "sh", "-c", "kill -PIPE $$; exit 0")
    assert done.returncode == -signal.SIGPIPE


def test_values_reach_the_program_byte_by_byte(tmp_path: Path) -> None:
    values = {name: value for name, value in NASTY_VALUES.items() if name not in {"no UTF-8", "empty"}}
    keys = {f"k{number}": name for number, name in enumerate(values)}
    store = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "SecretStore",
        "metadata": {"name": "demo"},
        "spec": {
            "provider": {
                "fake": {"data": [{"key": key, "value": values[name].decode()} for key, name in keys.items()]}
            }
        },
    }
    path = tmp_path / "m.yaml"
    path.write_text(to_yaml(store) + external_secret("app", {key: key for key in keys}))
    done = run("-f", path, "--pristine", "--", "env", "-0")
    found = dict(line.split(b"=", 1) for line in done.stdout.split(b"\0") if line)
    assert {key: found[key.upper().encode()] for key in keys} == {
        key: values[name] for key, name in keys.items()
    }


@pytest.mark.parametrize(
    ("program", "code"),
    [
        pytest.param(["sh", "-c", "exit 7"], 7, id="its exit code"),
        pytest.param(["sh", "-c", "kill -TERM $$"], -signal.SIGTERM, id="its signal"),
        pytest.param(["no-such-program"], 127, id="no such program"),
        pytest.param(["/etc/passwd"], 126, id="not executable"),
    ],
)
def test_the_exit_code_is_that_of_the_program(manifests: Path, program: list[str], code: int) -> None:
    assert run("-f", manifests, "--", *program).returncode == code


def test_arguments_are_the_programs_own(manifests: Path) -> None:
    done = run("-f", manifests, "--", "printf", "%s\n", "--set", "--", "-f", "x y")
    assert done.stdout == b"--set\n--\n-f\nx y\n"


def test_nothing_is_written_unless_asked_for(manifests: Path, tmp_path: Path) -> None:
    run("-f", manifests, "--", "true")
    assert list(tmp_path.iterdir()) == [manifests]
    folder = tmp_path / "files"
    done = run(
        "-f", manifests, "--files", folder, "--", "sh", "-c", "cat $SYNCRET_FILES/default/db/db-password"
    )
    assert done.stdout == b"s3cr3t"
    assert (folder / "default" / "db" / "db-password").stat().st_mode & 0o777 == 0o600


def test_a_secret_of_the_manifests_has_to_be_named(manifests: Path) -> None:
    done = run(
        "-f", manifests, "--secret", "login", "--secret", "db:db-password=PG", "--pristine", "--", "env"
    )
    assert {b"TOKEN=hidden", b"PG=s3cr3t"} <= set(done.stdout.splitlines())
    assert b"DB_PASSWORD" not in done.stdout


def test_labels_choose_secrets(manifests: Path) -> None:
    with manifests.open("a") as file:
        file.write(external_secret("web", {"db-password": "b"}))
    done = run("-f", manifests, "--selector", "app=web", "--", "sh", "-c", "echo $DB_PASSWORD")
    assert done.stdout == b"other\n"


def told(capfd: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    code = main(["exec", *map(str, words), "--", "/bin/false"])
    return code, capfd.readouterr().err


def test_what_cannot_be_a_set_of_variables_is_an_error_of_usage(
    manifests: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert told(capfd, "-f", manifests, "--secret", "none") == (
        2,
        "syncret: there is no Secret none (there are: default/login, default/db)\n",
    )
    with manifests.open("a") as file:
        file.write(external_secret("web", {"db-password": "b"}))
    code, text = told(capfd, "-f", manifests)
    assert (code, "both give DB_PASSWORD" in text) == (2, True)


def test_a_value_that_is_missing_runs_nothing(manifests: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with manifests.open("a") as file:
        file.write(external_secret("bad", {"x": "nowhere"}))
    code, text = told(capfd, "-f", manifests)
    assert code == 1
    assert "ExternalSecret/default/bad" in text
    assert text.endswith("syncret: nothing was run: not every value could be had\n")


def test_an_invalid_manifest_runs_nothing(manifests: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with manifests.open("a") as file:
        file.write("---\nkind: ExternalSecret\n")
    assert told(capfd, "-f", manifests)[0] == 2


def test_a_placeholder_must_be_filled_if_asked_for(
    manifests: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "@secret")
    assert told(capfd, "-f", manifests, "--env-strict") == (
        1,
        "syncret: nothing was run: no value for API_KEY (a Secret must give it)\n",
    )


def test_a_folder_that_cannot_be_used_keeps_the_program_from_being_started(
    manifests: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert told(capfd, "-f", manifests, "--files", tmp_path / "file")[0] == 125


def test_too_many_variables_are_told_with_the_largest(manifests: Path, tmp_path: Path) -> None:
    big = "x" * 120_000
    data = ", ".join(f"{{key: k{number}, value: {big}}}" for number in range(8))
    path = tmp_path / "big.yaml"
    path.write_text(
        STORE.replace("{key: a, value: s3cr3t}", data)
        + "".join(external_secret(f"s{number}", {f"k{number}": f"k{number}"}) for number in range(8))
    )
    limit = f"ulimit -s 1024; exec {SYNCRET} exec -f {path} --pristine -- true"
    done = subprocess.run(["sh", "-c", limit], capture_output=True, check=False)
    assert done.returncode == 125
    assert b"larger than this system takes" in done.stderr
    assert b"alone 120,000 (use --files DIR for large values)" in done.stderr
    assert b"xxx" not in done.stderr


class LeasingVault(SmallVault):
    """Also makes credentials with a lease, which ends with the token that asked."""

    def answer(self, method: str, path: str, token: str, body: Document) -> tuple[int, Document]:
        if path == "database/creds/app" and token in self.valid:
            lease = {"lease_id": "database/creds/app/1", "lease_duration": 3600, "renewable": True}
            return 200, {**lease, "data": {"password": "drawn"}}
        return super().answer(method, path, token, body)


def leased(vault: SmallVault) -> str:
    store = vault_store(vault)
    provider = store[store.index("    vault:") :].replace("path: kv", "path: database/creds/app")
    generator = f"""---
apiVersion: generators.external-secrets.io/v1alpha1
kind: VaultDynamicSecret
metadata: {{name: app}}
spec:
  path: database/creds/app
  provider:
{provider.replace("    vault:", "").replace("      ", "    ")}"""
    return store + generator + LEASED


LEASED = """---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: app}
spec:
  dataFrom:
    - sourceRef:
        generatorRef:
          {apiVersion: generators.external-secrets.io/v1alpha1, kind: VaultDynamicSecret, name: app}
"""


def test_what_ends_with_a_login_keeps_it_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "manifests.yaml"
    with served(LeasingVault()) as vault:
        path.write_text(leased(vault))
        done = run("-f", path, "--", "sh", "-c", "echo $PASSWORD")
        assert done.stdout == b"drawn\n"
        assert done.stderr.decode() == (
            "VaultDynamicSecret/app: warning: nothing renews what it made once this pass is over "
            "(stay beside the program: --on-change restart)\n"
        )
        assert len(vault.valid) == 1
        path.write_text(vault_store(vault) + vault_sets("vault", 1, "1h"))
        done = run("-f", path, "--", "true")
        assert (done.returncode, done.stderr) == (0, b"")
        assert len(vault.valid) == 1  # its own login was revoked


def test_with_a_cache_a_program_is_run_while_the_manager_is_away(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    path, key = tmp_path / "manifests.yaml", tmp_path / "key"
    cached = {"XDG_CACHE_HOME": str(tmp_path), "SYNCRET_CACHE_KEY": f"file:{key}"}
    cached["SYNCRET_CALL_ATTEMPTS"] = "1"
    command = ("-f", path, "--cache", "--", "sh", "-c", 'echo "$PASSWORD"')
    with served(SmallVault()) as vault:
        path.write_text(vault_store(vault) + vault_sets("vault", 1, "1h"))
        missing = run(*command, env={**cached, "SYNCRET_CACHE_KEY": ""})
        assert (missing.returncode, missing.stdout) == (2, b"")
        key.write_bytes(os.urandom(32))
        key.chmod(0o600)
        first = run(*command, env=cached)
        assert (first.returncode, first.stderr) == (0, b"")
        assert first.stdout.strip()
        vault.goes_away()
        second = run(*command, env=cached)
        assert (second.returncode, second.stdout) == (0, first.stdout), second.stderr
        assert b"values from the cache" in second.stderr
        assert b"no answer of SecretStore/default/vault" in second.stderr
        third = run(*[each for each in command if each != "--cache"], env=cached)
        assert third.returncode == 1
