"""What a cluster home keeps of resources that may have exports, and which kinds it follows."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
import pytest

from syncret.config.meta import Document, GroupKind
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.kubernetes.exporting import follow_groups, slim
from syncret.daemon.homes.kubernetes.resources import Resource

REDIS = Resource("cache.azure.com", "v1", "Redis", "redis", namespaced=True, has_status=True)


def document(operator_spec: Document) -> Document:
    return {
        "apiVersion": "cache.azure.com/v1",
        "kind": "Redis",
        "metadata": {
            "name": "r",
            "namespace": "shop",
            "uid": "u",
            "resourceVersion": "7",
            "generation": 3,
            "labels": {"a": "b"},
            "managedFields": [{"manager": "aso"}],
        },
        "spec": {"location": "here", "operatorSpec": operator_spec},
        "status": {"id": "/a"},
    }


def test_of_a_resource_with_exports_what_they_need() -> None:
    stored = slim(REDIS, document({"dynamicSecrets": [{"name": "o"}]}))
    kept = stored.document
    assert kept["spec"] == {"operatorSpec": {"dynamicSecrets": [{"name": "o"}]}}
    assert (kept["status"], kept["metadata"]["labels"]) == ({"id": "/a"}, {"a": "b"})
    assert "managedFields" not in kept["metadata"]
    assert (stored.uid, stored.resource_version, stored.generation) == ("u", "7", 0)


@pytest.mark.parametrize("spec", [{}, {"dynamicSecrets": []}, {"secrets": {"a": {"name": "o", "key": "k"}}}])
def test_of_others_only_the_name(spec: Document) -> None:
    kept = slim(REDIS, document(spec)).document
    assert kept["metadata"] == {"name": "r", "namespace": "shop", "uid": "u", "resourceVersion": "7"}
    assert kept.keys() == {"metadata", "apiVersion", "kind"}
    assert len(msgspec.json.encode(kept)) < 200


class Server:
    """Answers which kinds there are: the same, others, or not at all."""

    def __init__(self, *answers: Sequence[str] | None) -> None:
        self._answers = list(answers)
        self.done = asyncio.Event()

    async def watchable(self, groups: Collection[str]) -> Sequence[GroupKind]:
        assert groups == ("g",)
        answer = self._answers.pop(0)
        if not self._answers:
            self.done.set()
        if answer is None:
            raise StorageUnavailable("away")
        return [GroupKind("g", kind) for kind in answer]


async def test_kinds_go_when_the_server_says_so_and_never_because_it_is_away() -> None:
    server: Any = Server(["A"], ["A"], None, ["A", "B"], None, ["B"])
    told: list[list[str]] = []
    again = asyncio.Event()

    async def follow(kinds: Collection[GroupKind]) -> None:
        told.append(sorted(kind.kind for kind in kinds))

    task = asyncio.create_task(follow_groups(server, ("g",), follow, again))
    while not server.done.is_set() or len(told) < 3:
        again.set()
        await asyncio.sleep(0)
    task.cancel()
    assert told == [["A"], ["A", "B"], ["B"]]
