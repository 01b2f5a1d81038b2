"""`syncret cache`: a key is made once, what it keeps is shown and cleared, without a daemon the file goes."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from syncret.config.settings import Cache, Settings
from syncret.daemon.app import EngineOverrides, run_engine
from syncret.daemon.cache.cache import OfflineCache
from syncret.daemon.cache.key import find_keys, new_key
from syncret.daemon.cache.opening import Opened, open_cache
from syncret.daemon.cli.main import main
from syncret.daemon.engine.clock import Clock
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.memory.plugins import admission_by
from syncret.daemon.ops.control import control_service
from syncret.daemon.ops.metrics import Metrics
from syncret.daemon.ops.view import View
from syncret.daemon.supervisor import sources_of
from syncret.providers.registry import Registry
from tests.unit.daemon.ops.objects import external_secret, serving, store


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    tmp_path.chmod(0o700)
    key = tmp_path / "key"
    key.write_bytes(new_key())
    key.chmod(0o600)
    return Settings(
        socket=str(tmp_path / "control.sock"),
        state_file=str(tmp_path / "state.db"),
        cache=Cache(key=f"file:{key}"),
    )


@asynccontextmanager
async def daemon(settings: Settings) -> AsyncGenerator[tuple[View, OfflineCache], None]:
    """A daemon with a cache that holds one ExternalSecret's answer."""
    registry, clock = Registry(), Clock()
    metrics = Metrics(clock.now)
    cluster = MemoryCluster(now=clock.now, admission=admission_by(registry))
    async with open_cache(settings, clock.now) as opened:
        assert opened.cache is not None
        hooks = EngineOverrides(observer=metrics, cache=opened.cache)
        async with run_engine(
            cluster, registry=registry, settings=settings, clock=clock, hooks=hooks
        ) as running:
            for document in (store(database="hunter2"), external_secret()):
                await cluster.apply(document)
            await running.engine.wait_idle()
            metrics.watch(sources_of(running, settings)._replace(cache=opened.stats))
            view = View(
                running=running, metrics=metrics, clock=clock, settings=settings, offline=Opened(opened.cache)
            )
            async with serving(control_service, view):
                yield view, opened.cache


async def asked(view: View, *arguments: str) -> int:
    return await asyncio.to_thread(main, [*arguments, "--socket", view.settings.socket])


async def test_what_it_holds_is_shown(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    async with daemon(settings) as (view, _):
        assert await asked(view, "cache", "status") == 0
        assert capsys.readouterr().out == "cache 2 values, 0 served, oldest 0s\n"
        assert await asked(view, "cache", "status", "-o", "json") == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["usable"], document["entries"]) == (True, 2)
        assert await asked(view, "status") == 0
        assert capsys.readouterr().out.splitlines()[1].startswith("cache 2 values")
        text = b"".join([piece async for piece in view.metrics.pieces()]).decode()
        assert "syncret_cache_usable 1" in text
        assert "syncret_cache_entries 2" in text
        assert "hunter2" not in text


async def test_it_is_cleared(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    async with daemon(settings) as (view, cache):
        assert await asked(view, "cache", "clear", "--store", "SecretStore/nobody") == 1
        assert "there is no SecretStore/default/nobody" in capsys.readouterr().err
        assert cache.stats().entries == 2
        assert await asked(view, "cache", "clear", "--store", "SecretStore/demo") == 0
        assert capsys.readouterr().out == "2 values removed\n"
        assert cache.stats().entries == 0


async def test_without_a_daemon_its_file_goes(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    async with daemon(settings):
        pass
    file = Path(settings.state_file).with_name("cache.db")
    arguments = ["cache", "clear", "--socket", settings.socket, "--set", f"stateFile={settings.state_file}"]
    assert file.exists()
    assert main(arguments) == 0
    assert not file.exists()
    assert main(arguments) == 0
    assert capsys.readouterr().out == "removed\nthere is no cache\n"


async def test_one_that_the_daemon_cannot_use_is_removed_as_its_remedy_says(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(settings.state_file).with_name("cache.db")
    async with daemon(settings) as (view, _):
        view.offline = Opened(None, "the cache was sealed with another key")
        assert await asked(view, "cache", "clear") == 1
        assert "another syncret uses this cache" in capsys.readouterr().err
        view.settings = replace(view.settings, state_file=f"{file.parent}/other/state.db")
        other = Path(view.settings.state_file).with_name("cache.db")
        other.parent.mkdir(mode=0o700)
        other.write_bytes(b"damaged")
        assert await asked(view, "cache", "clear", "--store", "SecretStore/demo") == 1
        assert "without --store all of it is removed" in capsys.readouterr().err
        assert await asked(view, "cache", "clear") == 0
        assert "reload the daemon, and a new one begins" in capsys.readouterr().out
        assert file.exists()
        assert not other.exists()


async def test_a_daemon_without_a_cache_says_so(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    async with daemon(settings) as (view, _):
        view.offline = None
        assert await asked(view, "cache", "status") == 1
        assert "has no cache" in capsys.readouterr().out
        assert await asked(view, "cache", "clear") == 1
        view.offline = Opened(None, "cache.key: there is none")
        assert await asked(view, "cache", "status") == 1
        assert capsys.readouterr().out == "no cache: cache.key: there is none\n"


async def test_a_cache_that_cannot_be_used_never_ends_a_daemon(settings: Settings) -> None:
    os.unlink(settings.cache.key.removeprefix("file:"))  # noqa: PTH108  # a path of a setting
    async with open_cache(settings, Clock().now) as opened:
        assert opened.cache is None
        assert not opened.stats().usable
        assert "does not exist" in opened.stats().problem


def test_a_key_in_a_file_is_made_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o700)
    setting = f"file:{tmp_path}/key"
    assert main(["cache", "init", "--set", f"cache.key={setting}"]) == 0
    assert f"cache: {{key: '{setting}'}}" in capsys.readouterr().out
    made = find_keys(setting, None)
    assert main(["cache", "init", "--set", f"cache.key={setting}"]) == 1
    assert "there is a key already" in capsys.readouterr().err
    assert find_keys(setting, None) == made
