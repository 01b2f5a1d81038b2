"""Secret managers that refuse logins, hang or are slow, under a real daemon."""

import signal
import time
from functools import partial
from pathlib import Path

import pytest

from tests.real.e2e.manifests import replaced, written
from tests.real.e2e.process import Daemon, daemon
from tests.support.servers.small_vault import small_vault, vault_sets, vault_store

pytestmark = pytest.mark.slow


RELOADS = 30
MOST_GROWTH = 2.0
"""Megabytes."""


def resident(process: Daemon) -> float:
    """Megabytes in memory."""
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


def changed(file: Path, before: str) -> bool:
    """Whether a file holds something else."""
    return file.read_text() != before


def made_at(socket: Path) -> int:
    """When a run began to listen; 0 between two runs."""
    try:
        return socket.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def is_anew(socket: Path, former: int) -> bool:
    """Whether a later run listens."""
    return made_at(socket) > former


def test_reloads_while_a_store_hangs_stop_no_other_store_and_leak_nothing(tmp_path: Path) -> None:
    """Nothing here would end within the time that a step is waited for: neither the calls nor a drain."""
    waits = ("--set", "callTimeout=10m", "--set", "drainTimeout=10m")
    with small_vault() as good, small_vault() as bad:
        manifests = written(
            tmp_path / "manifests",
            good=vault_store(good, "good") + vault_sets("good", 60, "1s"),
            bad=vault_store(bad, "bad") + vault_sets("bad", 20, "1s"),
        )
        with daemon(tmp_path, manifests, *waits) as process:
            bad.hangs = True
            process.until(lambda: bad.waiting, "a call hanging")
            value = tmp_path / "out/default/good-59/user"
            sizes: list[float] = []
            for _ in range(RELOADS):
                former = made_at(process.socket)
                process.send(signal.SIGHUP)
                # Only the next run hears the next signal: until it is there, a reload is the one under way.
                process.until(partial(is_anew, process.socket, former), "a new run up")
                before = value.read_text()
                process.until(partial(changed, value, before), "fresh again")
                sizes.append(resident(process))
            assert sizes[-1] - sizes[2] < MOST_GROWTH, sizes
            bad.let_go()
            other = tmp_path / "out/default/bad-19/user"
            process.until(partial(changed, other, other.read_text()), "the other fresh again")
            assert process.stop() == 0
            assert "Traceback" not in process.stderr


def test_a_store_that_never_answers_is_told_at_once(tmp_path: Path) -> None:
    """Its calls would end after ten minutes; until then nothing fails."""
    with small_vault() as vault:
        manifests = written(tmp_path / "manifests", store=vault_store(vault), sets=vault_sets("vault", 20))
        with daemon(tmp_path, manifests, "--set", "callTimeout=10m", "--set", "drainTimeout=1s") as process:
            process.until((tmp_path / "out/default/vault-19/user").exists, "synced")
            assert process.status("vault")["unansweredSeconds"] is None
            vault.hangs = True
            process.until(lambda: process.metric("syncret_oldest_overdue_seconds") > 3, "overdue")
            assert process.status("vault")["unansweredSeconds"] > 1
            assert process.status("vault-7")["unansweredSeconds"] is None
            server = vault.url.removeprefix("http://")
            assert f"no answer from {server} for" in process.ask("status").stdout
            assert f"have waited for an answer from {server} for" in process.ask("explain", "ss/vault").stdout
            assert process.metric("syncret_store_unanswered_seconds", store="SecretStore/default/vault") > 1
            vault.let_go()
            process.until(lambda: process.metric("syncret_oldest_overdue_seconds") < 3, "on time again")
            assert process.status("vault")["unansweredSeconds"] is None


def test_refused_logins_are_as_many_as_the_doubling_delay_allows(tmp_path: Path) -> None:
    """Vault locks a user after five by default; fifty objects of two seconds sent 115 in forty seconds."""
    with small_vault() as vault:
        manifests = written(tmp_path / "manifests", store=vault_store(vault), sets=vault_sets("vault", 50))
        with daemon(tmp_path, manifests) as process:
            value = tmp_path / "out/default/vault-49/user"
            process.until(value.exists, "synced")
            assert len(vault.logins) == 1
            vault.refuses = True
            vault.revoke_all()
            revoked = time.monotonic()
            process.until(lambda: process.status("vault")["ready"] is False, "the store not ready")
            assert "Vault refuses it" in process.status("vault")["lastFailure"]["message"]
            time.sleep(max(0.0, revoked + 20 - time.monotonic()))
            # After 0 and 1 s, and then the store alone, 32 s later.
            assert len(vault.logins) == 1 + 2
            assert value.exists(), "what was delivered stays"

            vault.refuses, vault.secret_id = False, "other"
            replaced(manifests / "store.yaml", vault_store(vault, secret_id="other"))
            before = value.read_text()
            process.until(partial(changed, value, before), "fresh again")
            assert len(vault.logins) == 1 + 2 + 1
            assert process.status("vault")["ready"] is True


@pytest.mark.parametrize(("objects", "interval"), [(20, "10s"), (1, "5s")])
def test_a_store_that_goes_down_is_seen_long_before_its_probe(
    tmp_path: Path, objects: int, interval: str
) -> None:
    """Its probe is five minutes away; objects ask for their values at their interval.

    That it takes ten seconds is tested on virtual time; here a machine may be busy.
    """
    with small_vault() as vault:
        sets = vault_sets("vault", objects, interval)
        manifests = written(tmp_path / "manifests", store=vault_store(vault), sets=sets)
        with daemon(tmp_path, manifests) as process:
            process.until((tmp_path / f"out/default/vault-{objects - 1}/user").exists, "synced")
            server = vault.url.removeprefix("http://")
            problem = f"{server} refuses connections"
            vault.goes_away()
            gone = time.monotonic()
            down = partial(process.metric, "secretstore_status_condition", condition="Reachable")
            process.until(lambda: down(status="False") == 1, "not reachable by the metrics")
            seconds = time.monotonic() - gone
            print(f"{objects} objects of {interval}: seen after {seconds:.1f} s")  # noqa: T201  # the figure

            assert process.metric("syncret_store_unreachable", cause=problem) == 1
            assert process.metric("secretstore_status_condition", condition="Ready", status="True") == 1
            status = process.ask("status", "--failing")
            assert status.returncode == 1
            assert "unreachable" in status.stdout
            assert f"the secret manager does not answer: {problem}" in status.stdout
            explained = process.ask("explain", "ss/vault").stdout
            assert f"the secret manager does not answer: {problem}" in explained
            assert "is it up, and the port right?" in explained
            process.until(
                lambda: problem in process.ask("explain", "es/vault-0").stdout, "the object says so"
            )

            vault.comes_back()
            process.until(lambda: down(status="True") == 1, "reachable again")
            process.until(lambda: process.ask("status").returncode == 0, "all in order")
            assert process.stderr.count("the secret manager does not answer") == 1
