"""What a host knows of itself: a full disk under its state, `kill -9`, leftovers that cannot be removed."""

import os
import random
import time
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.real.e2e.manifests import written
from tests.real.e2e.process import daemon, until
from tests.support.disks import filled, small_disk

pytestmark = pytest.mark.slow

KILLS: Final = int(os.environ.get("SYNCRET_KILLS", "6"))
PASSWORDS: Final = 60

GENERATOR: Final = """apiVersion: generators.external-secrets.io/v1alpha1
kind: Password
metadata: {name: pw}
spec: {length: 24}
"""


def generating(name: str, *, policy: str = "", target: str = "{}", interval: str = "1h") -> str:
    """An ExternalSecret whose value is another one each time that it is asked for."""
    return f"""---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: {name}}}
spec:
  refreshInterval: {interval}
  {f"refreshPolicy: {policy}" if policy else ""}
  target: {target}
  dataFrom:
  - sourceRef:
      generatorRef: {{apiVersion: generators.external-secrets.io/v1alpha1, kind: Password, name: pw}}
"""


def given(name: str) -> str:
    """A Secret of a manifest, into which others may merge."""
    return f"""---
apiVersion: v1
kind: Secret
metadata: {{name: {name}}}
stringData: {{user: anna}}
"""


def passwords(out: Path) -> dict[str, str]:
    """Every password that a reader can see, by the name of its Secret."""
    namespace = out / "default"
    found = namespace.iterdir() if namespace.is_dir() else ()
    return {
        each.name: (each / "password").read_text()
        for each in found
        if not each.name.startswith(".") and (each / "password").exists()
    }


@pytest.mark.parametrize("policy", ["Owner", "Orphan", "CreateOrMerge", "Merge"])
def test_a_kill_in_the_first_pass_changes_no_password(
    tmp_path: Path, chance: random.Random, policy: str
) -> None:
    texts = [
        generating(f"p{n}", policy="CreatedOnce", target=f"{{creationPolicy: {policy}}}")
        for n in range(PASSWORDS)
    ]
    if policy == "Merge":
        texts += [given(f"p{n}") for n in range(PASSWORDS)]
    manifests = written(tmp_path / "manifests", all=GENERATOR + "".join(texts))
    seen = 0
    for kill in range(KILLS):
        folder = tmp_path / str(kill)
        folder.mkdir()
        moment = chance.uniform(0, 0.15)
        with daemon(folder, manifests, ready=False) as running:
            until(partial(passwords, folder / "out"), "the first Secret written", every=0.002)
            time.sleep(moment)
            running.process.kill()
            running.process.wait()
        before = passwords(folder / "out")
        seen += len(before)
        with daemon(folder, manifests):
            after = passwords(folder / "out")
        assert len(after) == PASSWORDS
        changed = {name for name in before if after[name] != before[name]}
        assert not changed, f"{len(changed)} of {len(before)} passwords are other ones after the restart"
    assert seen


def test_a_full_disk_under_the_state_changes_no_password_and_is_shown(tmp_path: Path) -> None:
    manifests = written(tmp_path / "manifests", all=GENERATOR + generating("pw", interval="2s"))
    with (
        small_disk(tmp_path / "disk", "1m") as disk,
        daemon(tmp_path, manifests, "--state", disk / "state.db") as running,
    ):
        with filled(disk):
            running.until(lambda: not running.status("pw")["ready"], "shown")
            before, lines = passwords(tmp_path / "out"), running.stderr.count("\n")
            seen: set[str] = set()
            for _ in range(500):
                seen |= set(passwords(tmp_path / "out").values())
                time.sleep(0.02)
            assert seen == set(before.values())
            assert running.stderr.count("\n") - lines < 20
            row = running.status("pw")
            assert row["reason"] == "RunFailed"
            assert "no space is left for the state file" in row["lastFailure"]["message"]
            failing = running.ask("status", "--failing")
            assert failing.returncode == 1
            assert "no space is left for the state file" in failing.stdout
            assert "RunFailed" in running.ask("explain", "ExternalSecret/pw").stdout
            assert running.metric("syncret_objects_not_ready", kind="ExternalSecret") == 1
        running.until(lambda: passwords(tmp_path / "out") != before, "refreshed, once there is space")
        running.until(lambda: running.ask("status").returncode == 0, "shown as in order")


def test_a_leftover_that_cannot_be_removed_is_named_and_serves_nobody(tmp_path: Path) -> None:
    manifests = written(tmp_path / "manifests", all=GENERATOR + generating("pw"))
    leftover = tmp_path / "out/default/..syncret-1a-0"
    (leftover / "folder").mkdir(parents=True)
    with daemon(tmp_path, manifests) as running:
        assert passwords(tmp_path / "out").keys() == {"pw"}
        [problem] = running.problems()
        assert problem["file"] == str(leftover)
        assert problem["severity"] == "warning"
        (leftover / "folder").rmdir()
        running.until(lambda: not running.problems(), "removed, and told no more")
        assert not leftover.exists()
