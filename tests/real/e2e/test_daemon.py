"""Lives of the daemon: files follow manifests and stores, signals are obeyed, a restart asks for nothing."""

import shutil
import signal
import stat
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.real.e2e.manifests import external, replaced, store, written
from tests.real.e2e.process import ROOT, Daemon, daemon, faces, files, syncret

SAMPLES = ROOT / "config" / "samples" / "quickstart"
pytestmark = pytest.mark.slow

CALLS = "externalsecret_provider_api_calls_count"
ONCE = """apiVersion: generators.external-secrets.io/v1alpha1
kind: Password
metadata: {name: password}
spec: {length: 24}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: once}
spec:
  refreshPolicy: CreatedOnce
  dataFrom: [{sourceRef: {generatorRef: {kind: Password, name: password}}}]
"""


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    return written(tmp_path / "manifests", store=store(k="v1", other="o1"), app=external("app", "k"))


@pytest.fixture
def running(tmp_path: Path, manifests: Path) -> Generator[Daemon, None, None]:
    with daemon(tmp_path, manifests) as process:
        yield process


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    replaced(file, text.replace(old, new))


# --------------------------------------------------------------------------------------------- the quickstart
def test_the_quickstart(tmp_path: Path) -> None:
    manifests, out = tmp_path / "manifests", tmp_path / "out"
    shutil.copytree(SAMPLES, manifests)
    edit(manifests / "04-banner.yaml", "refreshInterval: 5s", "refreshInterval: 1s")
    with daemon(tmp_path, manifests) as process:
        found = files(out)
        password = found.pop("default/session-key/password")
        assert len(password) == 40
        assert found == {
            "default/banner/text": "hello from syncret",
            "default/database/host": "db.internal",
            "default/database/password": "correct-horse",
            "default/database/user": "app",
            "default/payments/api_key": "pk_live_quickstart",
            "default/payments/webhook_secret": "whsec_quickstart",
        }
        for path in out.rglob("*"):
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
        assert process.address[0] == "127.0.0.1"
        for told in (
            "KIND",
            "default/banner",
            "secret synced",
            str(out / "default/database"),
            "ask it: syncret",
        ):
            assert told in process.stdout
        edit(manifests / "02-database.yaml", "secretKey: user", "secretKey: login")
        process.until((out / "default/database/login").exists, "the new key written")
        assert not (out / "default/database/user").exists()
        edit(manifests / "01-store.yaml", "hello from syncret", "good morning")
        banner = out / "default/banner/text"
        process.until(lambda: banner.read_text() == "good morning", "the new banner written")
        (manifests / "03-payments.yaml").unlink()
        process.until(lambda: not (out / "default/payments").exists(), "the payments gone")
        assert (out / "default/session-key/password").read_text() == password
        explained = process.ask("explain", "ExternalSecret/database")
        assert (explained.returncode, "login" in explained.stdout) == (0, True)
        assert process.stop() == 0
    assert (out / "default/database/login").exists(), "what was synced stays when the daemon stops"
    assert "Traceback" not in process.stderr


# ----------------------------------------------------------------------------------------------------signals
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_cleanly(running: Daemon, number: signal.Signals) -> None:
    assert running.stop(number) == 0
    assert not running.socket.exists()
    assert "Traceback" not in running.stderr


def test_a_stop_during_the_start_is_obeyed(tmp_path: Path, manifests: Path) -> None:
    with daemon(tmp_path, manifests, ready=False) as process:
        process.until((tmp_path / "state.db").exists, "begun")
        assert process.stop() == 0


def test_new_settings_are_read_on_sighup_and_bad_ones_are_not(tmp_path: Path, manifests: Path) -> None:
    settings, file = tmp_path / "settings.yaml", tmp_path / "out/default/app/k"
    settings.write_text('fileMode: "0600"\n')
    with daemon(tmp_path, manifests, "--config", settings) as process:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        settings.write_text('fileMode: "0640"\n')
        process.send(signal.SIGHUP)
        process.said("the first pass is done", 2)
        process.until(lambda: stat.S_IMODE(file.stat().st_mode) == 0o640, "the new mode set")
        settings.write_text("fileMod: 7\nlogLevel: loud\n")
        process.send(signal.SIGHUP)
        process.said("the settings are wrong, the old ones stay in force", 2)
        assert f"{settings}:1: fileMod: there is no such setting (did you mean fileMode?)" in process.stderr
        assert f"{settings}:2: logLevel" in process.stderr
        replaced(manifests / "app.yaml", external("app", "k", "other"))
        process.until((tmp_path / "out/default/app/other").exists, "alive")
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
        assert process.stop() == 0


# ----------------------------------------------------------------------------------------------------restart
def test_a_restart_asks_for_nothing_and_touches_nothing(tmp_path: Path, manifests: Path) -> None:
    written(manifests, other=external("other", "other"), find=external("pair", "k", "other"))
    with daemon(tmp_path, manifests) as process:
        assert process.metric(CALLS) > 0
        assert process.stop() == 0
    before = faces(tmp_path / "out")
    with daemon(tmp_path, manifests) as process:
        assert process.metric(CALLS) == 0
        assert process.status("app")["ready"] is True
        assert faces(tmp_path / "out") == before
        process.ask("refresh", "ExternalSecret/app")
        process.until(lambda: process.metric(CALLS) > 0, "refreshed by hand")
        assert faces(tmp_path / "out") == before
        assert process.stop() == 0


def test_what_happened_while_nobody_ran_is_made_good(tmp_path: Path, manifests: Path) -> None:
    out = tmp_path / "out/default"
    written(manifests, gone=external("gone", "k"), changed=external("changed", "k"))
    with daemon(tmp_path, manifests) as process:
        assert process.stop() == 0
    (manifests / "gone.yaml").unlink()
    replaced(manifests / "changed.yaml", external("changed", "other"))
    (out / "app/k").write_text("edited")
    with daemon(tmp_path, manifests) as process:
        process.until(lambda: not (out / "gone").exists(), "deleted")
        process.until(lambda: files(out) == {"app/k": "v1", "changed/other": "o1"}, "made good")
        assert process.stop() == 0


def test_a_manifest_that_is_empty_for_a_moment_deletes_nothing(tmp_path: Path, manifests: Path) -> None:
    """Neither does a folder that a deployment empties and fills; what is generated once stays what it was."""
    password, app = tmp_path / "out/default/once/password", manifests / "app.yaml"
    written(manifests, once=ONCE, more="---\n".join(external(f"more{number}", "k") for number in range(5)))
    with daemon(tmp_path, manifests) as process:
        before = password.read_text()
        (manifests / "once.yaml").write_text("")
        process.until(process.problems, "the deletions reported")
        [problem] = process.problems()
        assert (problem["file"], problem["severity"]) == (str(manifests / "once.yaml"), "warning")
        assert "the 2 objects defined here will be deleted at" in process.ask("status").stdout
        assert process.metric("syncret_deletions_waiting") == 2
        texts = {file: file.read_text() for file in manifests.iterdir()} | {manifests / "once.yaml": ONCE}
        shutil.rmtree(manifests)
        manifests.mkdir()
        process.said("objects are not defined any more")
        for file, text in texts.items():
            file.write_text(text)
        process.until(lambda: not process.problems(), "all back")
        assert process.metric("syncret_deletions_waiting") == 0
        assert password.read_text() == before
        app.unlink()
        process.until(lambda: not (tmp_path / "out/default/app").exists(), "one file deleted at once")
        assert process.stop() == 0
    assert process.stderr.count("holds no manifests any more") == 1
    with daemon(tmp_path, manifests, "--set", "deletionGrace=1s") as process:
        (manifests / "once.yaml").write_text("")
        process.said("holds no manifests any more")
        process.until(lambda: not password.exists(), "deleted after the grace period")
        process.until(lambda: not process.problems(), "nothing left to report")
        assert process.stop() == 0


def test_two_daemons_do_not_share(tmp_path: Path, running: Daemon, manifests: Path) -> None:
    (tmp_path / "second").mkdir()
    state, out = str(tmp_path / "state.db"), str(tmp_path / "out")
    with daemon(tmp_path / "second", manifests, "--state", state, ready=False) as second:
        assert second.process.wait(60) == 3
        assert f"{state}: another syncret uses this state file (stop it" in second.stderr
    with daemon(tmp_path / "second", manifests, "--output-dir", out, ready=False) as second:
        assert second.process.wait(60) == 3
        assert f"{out}: another syncret writes to this folder (stop it" in second.stderr
    listen = "{}:{}".format(*running.address)
    with daemon(tmp_path / "second", manifests, "--listen", listen, ready=False) as second:
        assert second.process.wait(60) == 3
        assert f"{listen}: " in second.stderr
        assert "Traceback" not in second.stderr
    with daemon(tmp_path / "second", manifests, "--set", f"socket={running.socket}", ready=False) as second:
        assert second.process.wait(60) == 3
        assert "another daemon listens there (stop it" in second.stderr
    assert running.ask("status").returncode == 0


# ------------------------------------------------------------------------------------------------------drift
def test_drift_is_repaired_at_the_rescan(running: Daemon, tmp_path: Path) -> None:
    """The interval of the ExternalSecret is an hour; the files are looked at once a second here."""
    folder = tmp_path / "out/default/app"
    file, calls = folder / "k", running.metric(CALLS)
    file.write_text("v2")
    running.until(lambda: file.read_text() == "v1", "the edit taken back")
    file.unlink()
    running.until(file.exists, "the file back")
    file.chmod(0o644)
    running.until(lambda: stat.S_IMODE(file.stat().st_mode) == 0o600, "the mode mended")
    (folder / "foreign").write_text("x")
    running.until(lambda: not (folder / "foreign").exists(), "the foreign file gone")
    shutil.rmtree(tmp_path / "out")
    running.until(file.exists, "everything back")
    assert file.read_text() == "v1"
    assert running.metric(CALLS) - calls <= 5, "a look costs no call, a repair one"


# -----------------------------------------------------------------------------------------------------stores
VAULT = """apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: fake}
spec:
  provider:
    vault: {server: "http://127.0.0.1:1", path: kv, auth: {tokenSecretRef: {name: nothing, key: token}}}
"""


@pytest.mark.parametrize(
    "instead", [pytest.param(None, id="deleted"), pytest.param(VAULT, id="cannot be opened")]
)
def test_a_store_that_becomes_invalid_leaves_the_last_good_files(
    running: Daemon, tmp_path: Path, manifests: Path, instead: str | None
) -> None:
    file = tmp_path / "out/default/app/k"
    before = faces(tmp_path / "out")
    replaced(manifests / "app.yaml", external("app", "k", interval="1s"))
    if instead is None:
        (manifests / "store.yaml").unlink()
    else:
        replaced(manifests / "store.yaml", instead)
    # a refresh that comes before the store was checked again may fail at its login first
    running.until(lambda: 'SecretStore "fake"' in str(running.status("app")["lastFailure"]), "reported")
    running.until(lambda: running.status("app")["ready"] is False, "its status written")
    assert file.read_text() == "v1"
    assert faces(tmp_path / "out") == before
    assert running.status("app")["lastFailure"]["hint"]
    conditions = {"name": "app", "condition": "Ready"}
    assert running.metric("externalsecret_status_condition", **conditions, status="False") == 1
    assert running.metric("externalsecret_status_condition", **conditions, status="True") == 0
    # the run is counted when it is over, which is after it has reported
    running.until(lambda: running.metric("externalsecret_sync_calls_error", name="app") >= 1, "counted")
    replaced(manifests / "store.yaml", store(k="v2"))
    running.until(lambda: file.read_text() == "v2", "healed")
    running.until(lambda: running.status("app")["ready"] is True, "ready again")


def test_manifests_that_vanish_delete_nothing(running: Daemon, tmp_path: Path, manifests: Path) -> None:
    file = tmp_path / "out/default/app/k"
    manifests.rename(tmp_path / "aside")
    running.said("what it said last stays in force")
    assert file.read_text() == "v1"
    assert str(manifests) == running.problems()[0]["file"]
    (tmp_path / "aside").rename(manifests)
    replaced(manifests / "app.yaml", external("app", "other"))
    running.until(lambda: files(tmp_path / "out") == {"default/app/other": "o1"}, "followed again")
    running.until(lambda: not running.problems(), "the problem gone")


def test_a_bad_edit_keeps_the_last_good_version(running: Daemon, tmp_path: Path, manifests: Path) -> None:
    replaced(manifests / "app.yaml", external("app", "k").replace("1h", "1 hour"))
    running.said("spec.refreshInterval")
    replaced(manifests / "new.yaml", external("new", "other"))
    running.until((tmp_path / "out/default/new/other").exists, "the others served")
    assert (tmp_path / "out/default/app/k").read_text() == "v1"
    (problem,) = running.problems()
    assert (problem["file"], problem["line"]) == (str(manifests / "app.yaml"), 5)


# ------------------------------------------------------------------------------------------------ credentials
def test_a_generator_takes_its_secret_from_a_systemd_credential(tmp_path: Path) -> None:
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    (credentials / "totp.seed").write_text("JBSWY3DPEHPK3PXP")
    manifests = written(
        tmp_path / "manifests",
        mfa="""apiVersion: generators.external-secrets.io/v1alpha1
kind: MFA
metadata: {name: code}
spec: {secret: {name: totp, key: seed}}
""",
        app="""apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: code}
spec:
  refreshInterval: 1h
  dataFrom:
    - sourceRef:
        generatorRef: {apiVersion: generators.external-secrets.io/v1alpha1, kind: MFA, name: code}
""",
    )
    with daemon(tmp_path, manifests, CREDENTIALS_DIRECTORY=str(credentials)) as process:
        token = (tmp_path / "out/default/code/token").read_text()
        assert len(token) == 6
        assert token.isdecimal()
        assert process.stop() == 0
    assert not (tmp_path / "out/default/totp").exists()
    told = syncret("sync", "-f", manifests, "--output-dir", tmp_path / "other")
    assert told.returncode == 1
    assert "totp" in told.stdout + told.stderr
    for left in tmp_path.glob("state.db*"):
        assert b"JBSWY3DPEHPK3PXP" not in left.read_bytes()
