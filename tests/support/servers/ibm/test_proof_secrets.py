"""IBM's client of Secrets Manager works on the server. Nothing of syncret takes part."""

import asyncio
from collections.abc import Callable
from typing import Any

from tests.support.servers.ibm.sdk import client, created, refused, sm
from tests.support.servers.ibm.server import Ibm

ABSENT = "d5deb37a-7883-4fe2-a5e7-3c15420adc76"


async def test_life_of_a_secret(cloud: Ibm) -> None:
    def script() -> None:
        service = client(cloud)
        prototype = sm.ArbitrarySecretPrototype(
            name="db",
            secret_type="arbitrary",
            payload="one",
            description="of the database",
            labels=["team-a"],
            custom_metadata={"owner": "ada"},
            version_custom_metadata={"why": "first"},
        )
        made = created(service, prototype)
        read = sm.ArbitrarySecret.from_dict(service.get_secret(id=made["id"]).get_result())

        assert (read.payload, read.name, read.secret_group_id) == ("one", "db", "default")
        assert (read.labels, read.custom_metadata) == (["team-a"], {"owner": "ada"})
        assert (read.state_description, read.versions_total, read.locks_total) == ("active", 1, 0)
        assert read.created_at == read.updated_at

        patch = sm.ArbitrarySecretMetadataPatch(name="db-2", labels=["x"])
        changed = service.update_secret_metadata(id=made["id"], secret_metadata_patch=patch).get_result()
        assert (changed["name"], changed["labels"], changed["custom_metadata"]) == (
            "db-2",
            ["x"],
            {"owner": "ada"},
        )
        told = service.get_secret_metadata(id=made["id"]).get_result()
        assert sm.ArbitrarySecretMetadata.from_dict(told).name == "db-2"
        assert "payload" not in told

        assert service.delete_secret(id=made["id"]).get_status_code() == 204
        with refused(404, "not_found"):
            service.get_secret(id=made["id"])

    await asyncio.to_thread(script)


async def test_versions(cloud: Ibm) -> None:
    def script() -> None:
        service = client(cloud)
        made = created(
            service, sm.ArbitrarySecretPrototype(name="db", secret_type="arbitrary", payload="one")
        )
        first = service.get_secret_version(secret_id=made["id"], id="current").get_result()
        for payload in ("two", "three"):
            prototype = sm.ArbitrarySecretVersionPrototype(payload=payload)
            added = service.create_secret_version(
                secret_id=made["id"], secret_version_prototype=prototype
            ).get_result()
            assert sm.ArbitrarySecretVersion.from_dict(added).payload == payload

        assert service.get_secret(id=made["id"]).get_result()["payload"] == "three"
        previous = service.get_secret_version(secret_id=made["id"], id="previous").get_result()
        assert (previous["payload"], previous["alias"], previous["downloaded"]) == ("two", "previous", True)
        old = service.get_secret_version_metadata(secret_id=made["id"], id=first["id"]).get_result()
        assert (old["payload_available"], "alias" in old) == (False, False)
        listed = service.list_secret_versions(secret_id=made["id"]).get_result()
        assert [each.get("alias") for each in listed["versions"]] == ["current", "previous", None]
        assert (
            service.delete_secret_version_data(secret_id=made["id"], id="previous").get_status_code() == 204
        )
        told = service.get_secret_version(secret_id=made["id"], id="previous").get_result()
        assert (told["payload_available"], "payload" in told) == (False, False)
        with refused(404, "not_found"):
            service.get_secret_version(secret_id=made["id"], id=ABSENT)

    await asyncio.to_thread(script)


async def test_lists_with_filters_and_pages(cloud: Ibm) -> None:
    def script() -> None:
        service = client(cloud)
        group = service.create_secret_group(name="team", description="d").get_result()
        for index in range(7):
            body: dict[str, Any] = {"name": f"row-{index}", "labels": [f"l{index % 2}", "all"]}
            if index % 2:
                made = sm.KVSecretPrototype(secret_type="kv", data={"a": 1}, **body)
            else:
                body["secret_group_id"] = group["id"]
                made = sm.ArbitrarySecretPrototype(secret_type="arbitrary", payload="x", **body)
            created(service, made)

        def found(**query: object) -> str:
            pager = sm.SecretsPager(client=service, sort="name", **query)
            return "".join(each["name"].rpartition("-")[2] for each in pager.get_all())

        assert found(limit=2) == "0123456"
        assert found(groups=[group["id"]]) == "0246"
        assert found(groups=[group["id"], "default"], limit=3) == "0123456"
        assert found(secret_types=["kv"]) == "135"
        assert found(match_all_labels=["all", "l0"]) == "0246"
        # IDs are searched, too, so the word is none that a random one may have.
        assert found(search="row-3") == "3"
        assert found(search="nothing") == ""
        page = service.list_secrets(limit=3, offset=3, sort="-name").get_result()
        collection = sm.SecretMetadataPaginatedCollection.from_dict(page)
        assert [each.name for each in collection.secrets] == ["row-3", "row-2", "row-1"]
        assert (collection.total_count, collection.limit, collection.offset) == (7, 3, 3)
        assert all("payload" not in each and "data" not in each for each in page["secrets"])
        with refused(400, "bad_request"):
            service.list_secrets(limit=1001)

    await asyncio.to_thread(script)


async def test_groups(cloud: Ibm) -> None:
    def script() -> None:
        service = client(cloud)
        made = service.create_secret_group(name="team", description="d").get_result()
        assert sm.SecretGroup.from_dict(service.get_secret_group(id=made["id"]).get_result()).name == "team"
        patch = sm.SecretGroupPatch(name="crew")
        assert (
            service.update_secret_group(id=made["id"], secret_group_patch=patch).get_result()["name"]
            == "crew"
        )
        listed = sm.SecretGroupCollection.from_dict(service.list_secret_groups().get_result())
        assert [group.name for group in listed.secret_groups] == ["default", "crew"]
        secret = created(
            service,
            sm.ArbitrarySecretPrototype(
                name="a", secret_type="arbitrary", payload="x", secret_group_id=made["id"]
            ),
        )
        with refused(409):
            service.delete_secret_group(id=made["id"])
        service.delete_secret(id=secret["id"])
        assert service.delete_secret_group(id=made["id"]).get_status_code() == 204

    await asyncio.to_thread(script)


async def test_locks(cloud: Ibm) -> None:
    def script() -> None:
        service = client(cloud)
        made = created(service, sm.ArbitrarySecretPrototype(name="a", secret_type="arbitrary", payload="x"))
        lock = sm.SecretLockPrototype(name="in-use", description="by the app")
        told = service.create_secret_locks_bulk(id=made["id"], locks=[lock]).get_result()
        assert sm.SecretLocks.from_dict(told).versions[0].locks == ["in-use"]
        pager = sm.SecretLocksPager(client=service, id=made["id"], limit=1)
        assert [sm.SecretLock.from_dict(each).secret_version_alias for each in pager.get_all()] == ["current"]
        assert service.get_secret(id=made["id"]).get_result()["locks_total"] == 1
        with refused(412):
            service.delete_secret(id=made["id"])
        service.delete_secret_locks_bulk(id=made["id"], name=["in-use"])
        assert service.delete_secret(id=made["id"]).get_status_code() == 204

    await asyncio.to_thread(script)


async def test_errors(cloud: Ibm) -> None:
    def script() -> None:
        service = client(cloud)

        def arbitrary(name: str, **fields: object) -> Callable[[], object]:
            body = {"payload": "x", **fields}
            return lambda: created(
                service, sm.ArbitrarySecretPrototype(name=name, secret_type="arbitrary", **body)
            )

        cases: list[tuple[int, str, Callable[[], object]]] = [
            (404, "not_found", lambda: service.get_secret(id=ABSENT)),
            (404, "not_found", lambda: service.get_secret_metadata(id=ABSENT)),
            (
                404,
                "not_found",
                lambda: service.get_secret_by_name_type(
                    secret_type="kv", name="a", secret_group_name="no-such-group"
                ),
            ),
            (404, "not_found", lambda: service.get_secret_group(id=ABSENT)),
            (400, "bad_request", arbitrary("a/b")),
            (400, "bad_request", arbitrary("a", secret_group_id=ABSENT)),
            (400, "bad_request", arbitrary("a", payload="x" * (1024 * 1024 + 1))),
            (400, "bad_request", lambda: service.create_secret({"name": "a", "secret_type": "nothing"})),
            (
                400,
                "bad_request",
                lambda: service.create_secret(
                    {"name": "a", "secret_type": "imported_cert", "certificate": "no certificate"}
                ),
            ),
        ]
        for status, code, call in cases:
            with refused(status, code):
                call()

    await asyncio.to_thread(script)
