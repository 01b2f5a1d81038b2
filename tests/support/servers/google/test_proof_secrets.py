"""Google's client of Secret Manager works on the server. Nothing of syncret takes part."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.servers.google.crc32c import crc32c
from tests.support.servers.google.sdk import AUTOMATIC, NUMBER, PARENT, client, refused, service_account
from tests.support.servers.google.server import Google


# -- Secret Manager
@pytest.mark.parametrize("place", ["", "us-east1"], ids=["global", "regional"])
async def test_life_of_a_secret(cloud: Google, place: str) -> None:
    def script() -> None:
        sm = client(cloud, place=place)
        parent = f"{PARENT}/locations/{place}" if place else PARENT
        config = {} if place else AUTOMATIC
        made = sm.create_secret(request={"parent": parent, "secret_id": "db", "secret": config})
        assert made.name.startswith(NUMBER), "names hold the project's number"
        first = sm.add_secret_version(
            request={"parent": made.name, "payload": {"data": b"one", "data_crc32c": crc32c(b"one")}}
        )
        second = sm.add_secret_version(request={"parent": made.name, "payload": {"data": b"\x00\xfftwo"}})
        read = sm.access_secret_version(name=f"{parent}/secrets/db/versions/latest")

        assert (read.name, read.payload.data) == (second.name, b"\x00\xfftwo")
        assert read.payload.data_crc32c == crc32c(b"\x00\xfftwo")
        assert (first.state.name, first.client_specified_payload_checksum) == ("ENABLED", True)
        assert [each.name for each in sm.list_secret_versions(parent=made.name)] == [second.name, first.name]

        assert sm.disable_secret_version(name=second.name).state.name == "DISABLED"
        with refused("FAILED_PRECONDITION"):
            sm.access_secret_version(name=f"{made.name}/versions/latest")
        enabled = sm.list_secret_versions(request={"parent": made.name, "filter": "state:ENABLED"})
        assert [each.name for each in enabled] == [first.name]
        assert sm.enable_secret_version(name=second.name).state.name == "ENABLED"
        destroyed = sm.destroy_secret_version(name=first.name)
        assert (destroyed.state.name, destroyed.destroy_time is not None) == ("DESTROYED", True)
        assert sm.get_secret_version(name=first.name).state.name == "DESTROYED"
        with refused("FAILED_PRECONDITION"):
            sm.enable_secret_version(name=first.name)

        sm.delete_secret(name=made.name)
        with refused("NOT_FOUND"):
            sm.get_secret(name=made.name)

    await asyncio.to_thread(script)


async def test_what_is_written_beside_a_secret(cloud: Google) -> None:
    def script() -> None:
        sm = client(cloud)
        secret = {
            "replication": {
                "user_managed": {
                    "replicas": [
                        {"location": "us-east1", "customer_managed_encryption": {"kms_key_name": "k/1"}},
                        {"location": "europe-west3", "customer_managed_encryption": {"kms_key_name": "k/1"}},
                    ]
                }
            },
            "labels": {"team": "a"},
            "annotations": {"note": "Hello World"},
            "topics": [{"name": "projects/acme/topics/t"}],
        }
        made = sm.create_secret(request={"parent": PARENT, "secret_id": "db", "secret": secret})
        found = sm.get_secret(name=f"{PARENT}/secrets/db")
        assert [each.location for each in found.replication.user_managed.replicas] == [
            "us-east1",
            "europe-west3",
        ]
        assert (dict(found.labels), dict(found.annotations)) == ({"team": "a"}, {"note": "Hello World"})
        assert [each.name for each in found.topics] == ["projects/acme/topics/t"]

        sm.add_secret_version(request={"parent": made.name, "payload": {"data": b"one"}})
        sm.add_secret_version(request={"parent": made.name, "payload": {"data": b"two"}})
        changed = sm.update_secret(
            request={
                "secret": {
                    "name": made.name,
                    "etag": made.etag,
                    "version_aliases": {"stable": 1},
                    "labels": {"x": "y"},
                },
                "update_mask": {"paths": ["version_aliases"]},
            }
        )
        assert (dict(changed.version_aliases), dict(changed.labels)) == ({"stable": 1}, {"team": "a"})
        assert sm.access_secret_version(name=f"{made.name}/versions/stable").payload.data == b"one"
        stale = {"secret": {"name": made.name, "etag": made.etag}, "update_mask": {"paths": ["labels"]}}
        with refused("FAILED_PRECONDITION"):
            sm.update_secret(request=stale)
        with refused("FAILED_PRECONDITION"):
            sm.delete_secret(request={"name": made.name, "etag": made.etag})

    await asyncio.to_thread(script)


async def test_lists_with_filters_and_pages(cloud: Google) -> None:
    def script() -> None:
        sm = client(cloud)
        for index in range(7):
            secret = {**AUTOMATIC, "labels": {"team": "ab"[index % 2], "env": "x"}}
            sm.create_secret(request={"parent": PARENT, "secret_id": f"db-{index}", "secret": secret})

        def found(**request: object) -> list[str]:
            listed = sm.list_secrets(request={"parent": PARENT, **request})
            return [each.name.rpartition("-")[2] for each in listed]

        assert found(page_size=3) == list("0123456")
        assert [
            page.total_size for page in sm.list_secrets(request={"parent": PARENT, "page_size": 3}).pages
        ] == [7] * 3
        assert found(filter="labels.team=a", page_size=1) == list("0246")
        assert found(filter="labels.team=a labels.env=x name:db-2") == ["2"]
        assert found(filter="name:db-1 OR name:db-5") == list("15")
        assert found(filter="labels.team:* AND NOT labels.team=b") == list("0246")
        assert found(filter="labels.nothing:*") == []
        with refused("INVALID_ARGUMENT"):
            found(filter="what is this?(")

    await asyncio.to_thread(script)


async def test_errors(cloud: Google) -> None:
    def script() -> None:
        sm = client(cloud)
        made = sm.create_secret(request={"parent": PARENT, "secret_id": "db", "secret": AUTOMATIC})
        outsider = cloud.identity.key_file(cloud.identity.account("outsider", member=False))
        theirs = client(cloud, service_account.Credentials.from_service_account_info(outsider))
        cases: list[tuple[str, Callable[[], Any]]] = [
            ("NOT_FOUND", lambda: sm.access_secret_version(name=f"{PARENT}/secrets/no/versions/latest")),
            ("NOT_FOUND", lambda: sm.access_secret_version(name=f"{made.name}/versions/latest")),
            ("NOT_FOUND", lambda: sm.access_secret_version(name=f"{made.name}/versions/4")),
            ("ALREADY_EXISTS", lambda: sm.create_secret(parent=PARENT, secret_id="db", secret=AUTOMATIC)),
            ("INVALID_ARGUMENT", lambda: sm.create_secret(parent=PARENT, secret_id="a.b", secret=AUTOMATIC)),
            ("INVALID_ARGUMENT", lambda: sm.create_secret(parent=PARENT, secret_id="c", secret={})),
            (
                "INVALID_ARGUMENT",
                lambda: sm.add_secret_version(parent=made.name, payload={"data": b"x" * 65537}),
            ),
            (
                "INVALID_ARGUMENT",
                lambda: sm.add_secret_version(parent=made.name, payload={"data": b"x", "data_crc32c": 1}),
            ),
            ("PERMISSION_DENIED", lambda: theirs.get_secret(name=made.name)),
            ("PERMISSION_DENIED", lambda: list(sm.list_secrets(parent="projects/unknown"))),
            ("INVALID_ARGUMENT", lambda: client(cloud, place="us-east1").get_secret(name=made.name)),
        ]
        for expected, call in cases:
            with refused(expected):
                call()

    await asyncio.to_thread(script)
