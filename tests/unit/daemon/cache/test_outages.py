"""A host whose secret manager is away: what is there after a reboot, how old it says to be, and what goes."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.config.resources.kinds import DELIVERY, SECRET_STORE
from syncret.providers.errors import Denied
from tests.unit.daemon.cache.host import DAY, ES, TARGET, WEB, Host
from tests.unit.daemon.engine.support import manifest

STORE = SECRET_STORE.ref("default", "manager")
ENTRY: Mapping[str, Json] = {"secretKey": "password", "remoteRef": {"key": "password"}}


def store(**metadata: Json) -> Document:
    return manifest("SecretStore", "manager", spec={"provider": {"manager": {}}}, metadata=metadata)


def database(*more: str, metadata: Json = None, **spec: Json) -> Document:
    """An ExternalSecret of the key `password`, and of others."""
    data = [ENTRY, *({"secretKey": key, "remoteRef": {"key": key}} for key in more)]
    wanted = {"secretStoreRef": {"name": "manager"}, "refreshInterval": "1h", "data": data, **spec}
    return manifest("ExternalSecret", "database", spec=wanted, metadata=metadata or {})


def web(folder: Path, **spec: Json) -> Document:
    to = [{"directory": {"path": str(folder / "db")}}]
    wanted = {"sources": [{"secret": "database"}], "to": to, "reload": {"unit": "app.service"}, **spec}
    return {
        "apiVersion": DELIVERY.api_version,
        "kind": "Delivery",
        "metadata": {"name": "web"},
        "spec": wanted,
    }


@pytest.fixture
def host(tmp_path: Path) -> Host:
    host = Host(tmp_path)
    host.write(store(), database(), web(host.srv))
    return host


async def delivered_once(host: Host) -> Host:
    """After a life with the manager, and a reboot into an outage."""
    async with host.running():
        assert host.file() == host.delivered() == "first"
    host.away()
    host.reboot(after=3 * 3600)
    (host.srv / "db" / "password").unlink()
    (host.srv / "db").rmdir()
    host.units.asked.clear()
    host.events.clear()
    return host


async def test_a_reboot_in_an_outage_puts_everything_back_and_tells_the_age(host: Host) -> None:
    await delivered_once(host)
    async with host.running():
        await host.until_delivered()
        assert host.file() == host.delivered() == "first"
        status, _, message = host.ready()
        assert (status, message) == ("True", "secret synced, from the cache, 3h old: no answer")
        assert host.ready(WEB)[:2] == ("True", "Delivered")
        assert ("ExternalSecret", "RestoredFromCache") in host.events
        assert host.cache.stats().restored == 1
        assert host.cache.stats().serving == 1


async def test_without_a_cache_of_it_nothing_is_there(host: Host) -> None:
    """What the test above sees is the cache's doing."""
    host.write(database(metadata={"annotations": {"syncret.dev/cache": "never"}}))
    async with host.running():
        assert host.file() == "first"
    host.away()
    host.reboot()
    async with host.running():
        assert host.file() is None
        assert host.ready()[0] == "False"


async def test_when_the_manager_is_back_its_values_count_at_once(host: Host) -> None:
    await delivered_once(host)
    host.back()
    host.manager.values["password"] = "second"
    async with host.running():
        assert host.file() == "second"
        assert host.ready()[2] == "secret synced"
        assert host.cache.stats().serving == 0


async def test_a_file_that_is_there_is_never_replaced_by_an_older_one(host: Host) -> None:
    async with host.running():
        pass
    host.away()
    (host.out / "default" / "database" / "password").write_text("newer")
    async with host.running():
        assert host.cache.stats().restored == 0


async def test_a_password_that_is_made_once_is_not_made_again(host: Host) -> None:
    generator = manifest("Password", "strong", group="generators.external-secrets.io", spec={"length": 20})
    generator["apiVersion"] = "generators.external-secrets.io/v1alpha1"
    source = {"sourceRef": {"generatorRef": {"kind": "Password", "name": "strong"}}}
    host.write(generator, database(data=[], dataFrom=[source], refreshPolicy="CreatedOnce"))
    async with host.running():
        made = host.file()
        assert made
    host.reboot(after=400 * DAY)
    async with host.running():
        assert host.file() == made


async def test_a_changed_manifest_works_in_an_outage_with_what_was_read_before(host: Host) -> None:
    await delivered_once(host)
    template = {"template": {"data": {"url": "db://{{ .password }}"}}}
    host.write(database(target=template))
    async with host.running():
        assert host.file("url") == "db://first"
        assert "from the cache" in host.ready()[2]


async def test_what_was_never_read_is_not_there_in_an_outage(host: Host) -> None:
    await delivered_once(host)
    host.write(database("other"))
    async with host.running():
        assert host.ready()[0] == "False"
        assert host.file() == "first"


# ------------------------------------------------------------------------------------------------- refusals
async def test_an_access_that_was_taken_away_does_not_come_back_with_a_reboot(host: Host) -> None:
    async with host.running():
        host.manager.key_errors["password"] = Denied("not yours any more")
        await host.refresh()
        assert host.ready()[0] == "False"
        assert host.file() == "first"  # as without a cache: an error never deletes
    host.manager.key_errors.clear()
    host.away()
    host.reboot()
    async with host.running():
        assert host.file() is None
        assert host.ready()[0] == "False"


async def test_nor_does_a_value_that_the_manager_has_no_longer(host: Host) -> None:
    async with host.running():
        host.manager.values.clear()
        await host.refresh()
    host.away()
    host.reboot()
    async with host.running():
        assert host.file() is None


async def test_nor_anything_of_a_store_that_refused_the_login(host: Host) -> None:
    host.manager.wants_login = True
    async with host.running():
        assert host.file() == "first"
        host.manager.revoke()
        host.manager.refuses_logins = True
        await host.refresh()
        assert host.ready()[0] == "False"
    host.manager.refuses_logins = False
    host.away()
    host.reboot()
    async with host.running():
        assert host.file() is None
    host.back()
    async with host.running():  # the login stands again: what is read now is kept again
        assert host.file() == "first"
    host.away()
    host.reboot()
    async with host.running():
        assert host.file() == "first"


async def test_nor_if_only_the_check_of_the_store_met_the_refusal(host: Host) -> None:
    async with host.running():
        pass
    host.manager.open_errors = [Denied("who are you?") for _ in range(5)]
    host.store_interval = 0.0
    async with host.running():
        assert host.ready(STORE)[0] == "False"
        await host.refresh()
        assert "is not ready" in host.ready()[2]
    host.away()
    host.reboot()
    async with host.running():
        assert host.file() is None


async def test_nor_what_was_deleted(host: Host) -> None:
    async with host.running():
        (host.manifests / "ExternalSecret-database.json").unlink()
        await host.home.look()
        host.disk.later(100)
        await host.home.look()
        await host.settle()
        assert host.file() is None
        assert host.cache.stats().oldest is None
    host.away()
    host.reboot()
    async with host.running():
        assert host.file() is None


# ------------------------------------------------------------------------------------------------------ age
async def test_what_is_older_than_no_stale_after_is_withdrawn_at_a_start(host: Host) -> None:
    host.settings = replace(host.settings, no_stale_after=DAY)
    async with host.running():
        assert host.delivered() == "first"
    host.away()
    host.reboot(after=2 * DAY)
    host.units.asked.clear()
    async with host.running():
        await host.until_delivered()
        assert host.file() is None
        assert host.delivered() is None
        assert host.ready(WEB)[:2] == ("False", "SourceStale")
        assert host.units.asked == []


async def test_and_while_the_daemon_runs(host: Host) -> None:
    host.settings = replace(host.settings, no_stale_after=DAY)
    async with host.running():
        host.away()
        host.disk.later(DAY / 2)
        await host.refresh()
        assert host.file() == host.delivered() == "first"
        host.units.asked.clear()
        host.disk.later(DAY)
        await host.refresh()
        await host.looked_at()
        assert host.file() is None
        assert host.delivered() is None
        assert host.ready()[0] == "False"
        assert host.ready(WEB)[:2] == ("False", "SourceStale")
        assert ("ExternalSecret", "Withdrawn") in host.events
        assert ("Delivery", "Withdrawn") in host.events
        assert host.units.asked == []
        host.back()
        await host.refresh()
        await host.looked_at()
        assert host.file() == "first"


async def test_what_can_be_confirmed_is_never_withdrawn_however_long_its_interval(host: Host) -> None:
    host.settings = replace(host.settings, no_stale_after=60)
    host.write(database(refreshInterval="24h"))
    async with host.running():
        host.disk.later(DAY / 2)
        await host.looked_at(ES)
        await host.looked_at()
        assert host.delivered() == "first"


async def test_a_delivery_may_have_a_limit_of_its_own(host: Host) -> None:
    host.write(web(host.srv, maxStale="6h"))
    async with host.running():
        host.away()
        host.disk.later(5 * 3600)
        await host.refresh()
        await host.looked_at()
        assert host.delivered() == "first"
        host.disk.later(2 * 3600)
        await host.looked_at()
        assert host.delivered() is None
        assert host.file() == "first"
        assert host.ready(WEB)[1] == "SourceStale"


async def test_a_merged_secret_of_a_manifest_is_not_kept(host: Host) -> None:
    """Its own values are in the manifest, and those of the ExternalSecret come with the next read."""
    host.write(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "database"}, "stringData": {"own": "x"}},
        database(target={"creationPolicy": "Merge"}),
    )
    async with host.running():
        assert host.file() == "first"
        assert host.cache.age(TARGET) is None


async def test_a_delivery_says_whether_its_values_are_from_the_cache(host: Host) -> None:
    await delivered_once(host)
    async with host.running():
        await host.until_delivered()
        assert host.status(WEB)["live"]["fromCache"] is True
    host.back()
    async with host.running():
        await host.refresh(ES)
        await host.looked_at()
        assert host.status(WEB)["live"].get("fromCache", False) is False


async def test_without_a_cache_a_delivery_with_a_limit_is_refused(host: Host) -> None:
    host.write(web(host.srv, maxStale="6h"))
    async with host.running(without_cache=True):
        assert host.ready(WEB)[1] == "Refused"
        assert "there is no offline cache" in host.ready(WEB)[2]
