"""ExternalSecret: a target of another kind is written where it differs, and only then."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from syncret.daemon.engine.clock import Clock
from tests.unit.daemon.engine.host import Host
from tests.unit.daemon.engine.life import Life, X, fake_store, secret_ref, store, wanting

TARGET = {"manifest": {"apiVersion": "v1", "kind": "ConfigMap"}}
WRITTEN = secret_ref("x")._replace(kind="ConfigMap")


@pytest.fixture
async def host(tmp_path: Path, clock: Clock) -> AsyncIterator[Host]:
    """A host with a ConfigMap written to a file."""
    async with Host(tmp_path, clock).running(allow_generic_targets=True) as host:
        await host.apply(fake_store("s"), wanting(target=TARGET))
        yield host


@pytest.mark.parametrize("policy", ["Owner", "Orphan", "Merge"])
async def test_a_refresh_that_changes_nothing_is_no_update(clock: Clock, policy: str) -> None:
    async with Life(clock).running(allow_generic_targets=True) as life:
        if policy == "Merge":
            await life.apply(
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "default"}}
            )
        target = TARGET | {"creationPolicy": policy}
        await life.apply(store(), wanting(target=target, refreshInterval="10m"))
        before, told = await life.existing(WRITTEN), list(life.events)
        await life.wait(1800)
        assert life.reads == 4
        assert await life.existing(WRITTEN) == before
        assert life.events == told
        life.manager.values["k"] = "new"
        await life.wait(600)
        assert life.events == [*told, ("x", False, "Updated", f"{WRITTEN} updated")]


async def test_a_refresh_on_a_host_that_changes_nothing_leaves_the_file_alone(host: Host) -> None:
    file = host.out / "ConfigMap_x.yaml"
    before = file.stat()
    await host.refresh(X)
    assert host.updates() == 0
    assert file.stat().st_ino == before.st_ino


TOUCHES: dict[str, Callable[[Path], object]] = {
    "edited": lambda file: file.write_text(file.read_text().replace("a: v", "a: forged")),
    "no YAML": lambda file: file.write_text("{"),
    "deleted": lambda file: file.unlink(),
}


@pytest.mark.parametrize("refreshes", [0, 1, 3])
@pytest.mark.parametrize("touch", TOUCHES.values(), ids=TOUCHES.keys())
async def test_a_file_that_somebody_touched_is_repaired_at_once(
    host: Host, touch: Callable[[Path], object], refreshes: int
) -> None:
    file = host.out / "ConfigMap_x.yaml"
    written = file.read_text()
    for _ in range(refreshes):
        await host.refresh(X)
    touch(file)
    await host.inspect()
    assert file.read_text() == written
    touch(file)
    await host.inspect()
    assert file.read_text() == written
    assert host.updates() == 2
