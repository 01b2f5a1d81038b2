"""The commands with a kubeconfig, in this process, on an API server of a few lines."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from syncret.config.meta import Document
from syncret.config.resources.kinds import Kind
from syncret.daemon.cli.main import main
from syncret.daemon.core.exports.objects import EXPORTED
from syncret.daemon.core.exports.verdict import FAILED
from tests.support.servers.kube.small import SmallApi, event, with_condition

API = "external-secrets.io/v1"


def named(kind: str, name: str, spec: Document, **more: object) -> Document:
    return {
        "apiVersion": API,
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop"},
        "spec": spec,
        **more,
    }


def wanting(name: str, key: str = "k", **spec: object) -> Document:
    data = [{"secretKey": "a", "remoteRef": {"key": key}}]
    return named(
        "ExternalSecret",
        name,
        {"secretStoreRef": {"name": "s"}, "refreshInterval": "1h", "data": data, **spec},
    )


STORE = named("SecretStore", "s", {"provider": {"fake": {"data": [{"key": "k", "value": "sesame"}]}}})
READY = with_condition(STORE, "store validated", status="True")
LOGIN = {"tokenSecretRef": {"name": "login", "key": "token"}}
VAULT = named("SecretStore", "v", {"provider": {"vault": {"server": "https://v", "auth": LOGIN}}})
LOST = with_condition(wanting("lost"), "no: gone")
REDIS = Kind(group="cache.azure.com", kind="Redis", role="record", versions=("v1",))
CACHE: Document = {
    "apiVersion": REDIS.api_version,
    "kind": "Redis",
    "metadata": {"name": "cache", "namespace": "shop"},
    "spec": {"operatorSpec": {"dynamicSecrets": [{"name": "o", "key": "k", "value": "secret.primaryKey"}]}},
}
OUTPUT: Document = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "o", "namespace": "shop"}}
CACHE_NAME = "Redis.cache.azure.com/cache"


class Person:
    """Who asks that server."""

    def __init__(self, api: SmallApi, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.api = api
        self.folder = folder
        self.capsys = capsys

    async def ask(self, command: str, *words: str) -> tuple[int, str, str]:
        """Exit code and output of a command."""
        async with self.api.kubeconfig(self.folder) as path:
            flags = ("--kubernetes", "--set", f"kubeconfig={path}")
            code = await asyncio.to_thread(main, [command, *words, *flags])
        out, err = self.capsys.readouterr()
        return code, out, err

    async def json(self, command: str, *words: str) -> dict[str, Any]:
        """What it says as JSON."""
        _, out, _ = await self.ask(command, *words, "-o", "json")
        document: dict[str, Any] = json.loads(out)
        return document

    def file(self, *documents: Document) -> str:
        """The path of a file of documents."""
        path = self.folder / "new.yaml"
        path.write_text(yaml.safe_dump_all(documents))
        return str(path)


@pytest.fixture
def person(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Person:
    api = SmallApi(READY, VAULT, LOST, wanting("new"), others=[REDIS])
    api.events.append(event(LOST, "no: spec.data[0]: gone (make it)"))
    return Person(api, tmp_path, capsys)


async def test_status_of_a_namespace(person: Person) -> None:
    code, out, _ = await person.ask("status")
    assert code == 1
    assert "namespace shop: 1 failing" in out
    (row,) = (line for line in out.splitlines() if " lost " in line)
    assert row.split()[3:6] == ["NO", "-", "-"]
    assert row.endswith("no: spec.data[0]: gone")
    (lost,) = (await person.json("status", "lost"))["objects"]
    assert (lost["lastFailure"]["hint"], lost["failures"]) == ("make it", 3)


@pytest.mark.parametrize(
    ("words", "code"), [(("es/new",), 0), (("nobody",), 1), (("--failing", "es/new"), 0)]
)
async def test_status_of_names(person: Person, words: tuple[str, ...], code: int) -> None:
    assert (await person.ask("status", *words))[0] == code


async def test_rights_that_are_missing_are_named(person: Person) -> None:
    person.api.denied = {"list secretstores", "list events"}
    document = await person.json("status")
    assert [each["message"] for each in document["problems"]] == [
        'listing secretstores in namespace shop: secretstores is forbidden: User "jane" cannot list resource',
        'listing events in namespace shop: events is forbidden: User "jane" cannot list resource',
    ]
    assert {each["name"] for each in document["objects"]} == {"lost", "new"}
    person.api.denied |= {"list externalsecrets", "list pushsecrets"}
    assert (await person.ask("status"))[0] == 3


async def test_a_namespace_without_objects(person: Person) -> None:
    person.api.objects.clear()
    code, out, _ = await person.ask("status")
    assert code == 0
    assert [line for line in out.splitlines()[1:] if line] == [
        "nothing in namespace shop (-n names another, -A takes all)",
        "API server: warning: there is no namespace shop",
    ]
    person.api.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    assert "there is no" not in (await person.ask("status"))[1]


async def test_explain_names_what_is_missing(person: Person) -> None:
    person.api.add(wanting("far", secretStoreRef={"name": "v"}, dataFrom=[]))
    document = await person.json("explain", "es/far")
    assert "Secret/shop/login is missing: SecretStore/shop/v needs it" in " ".join(document["notes"])
    assert document["process"]["command"].endswith("-- syncret explain ExternalSecret/far -n shop")
    person.api.denied = {"get secrets"}
    document = await person.json("explain", "es/far")
    assert "is missing" not in " ".join(document["notes"]), "what may not be seen is not missing"
    assert any("cannot get resource" in each["message"] for each in document["problems"])


async def test_an_object_that_no_model_can_read_is_explained(person: Person) -> None:
    person.api.add(wanting("odd", data="text"))
    document = await person.json("explain", "es/odd")
    assert document["message"].startswith("it cannot be read")
    assert (await person.json("status", "odd"))["objects"][0]["nextDue"] is None


async def test_exports_of_a_resource_of_another_operator_are_explained(person: Person) -> None:
    person.api.add(CACHE)
    document = await person.json("explain", CACHE_NAME)
    assert (document["ready"], document["message"]) == (
        "Unknown",
        "Secret o is missing, and no event says why",
    )
    assert document["notes"] == ["exports to Secret o"]
    person.api.add(OUTPUT)
    assert (await person.json("explain", CACHE_NAME))["ready"] == "True"
    person.api.events[:] = [event(CACHE, "no key primaryKey", reason=FAILED)]
    document = await person.json("explain", CACHE_NAME)
    assert (document["ready"], document["lastError"]["message"]) == ("False", "no key primaryKey")
    person.api.events[:] = [event(CACHE, "updated Secret o", reason=EXPORTED, kind="Normal")]
    assert (await person.json("explain", CACHE_NAME))["ready"] == "True"


async def test_exports_that_are_refused_are_explained(person: Person) -> None:
    person.api.add({**CACHE, "spec": {"operatorSpec": {"dynamicSecrets": [{"key": "k", "value": "'a'"}]}}})
    document = await person.json("explain", CACHE_NAME)
    assert document["ready"] == "False"
    assert document["message"].startswith("operatorSpec.dynamicSecrets[0]")


async def test_exports_are_refreshed_by_an_annotation_and_not_waited_for(person: Person) -> None:
    person.api.add(CACHE)
    assert (await person.ask("refresh", CACHE_NAME))[0] == 0
    (written,) = person.api.written
    assert [*written.body["metadata"]["annotations"]] == ["force-sync"]
    code, _, err = await person.ask("refresh", CACHE_NAME, "--wait")
    assert (code, "leave --wait out" in err) == (2, True)


async def test_a_refresh_is_one_annotation(person: Person) -> None:
    document = await person.json("refresh", "es/new")
    (written,) = person.api.written
    assert (written.method, written.is_dry) == ("PATCH", False)
    assert written.body == {"metadata": {"annotations": {"force-sync": document["value"]}}}


async def test_a_refresh_that_may_not_be_asked_for(person: Person) -> None:
    person.api.denied = {"patch externalsecrets"}
    code, _, err = await person.ask("refresh", "es/new")
    assert code == 3
    assert "cannot patch resource" in err


async def test_a_plan_writes_nothing(person: Person) -> None:
    path = person.file(STORE, wanting("new"), wanting("more"))
    document = await person.json("plan", "-f", path)
    assert [each["action"] for each in document["objects"]] == ["unchanged", "unchanged", "create"]
    assert {each["object"] for each in document["changes"]} == {"Secret/shop/new", "Secret/shop/more"}
    assert all(each.is_dry for each in person.api.written)
    assert "sesame" not in json.dumps(document)


async def test_what_a_webhook_refuses_is_refused(person: Person) -> None:
    person.api.refused["more"] = "by policy"
    code, out, _ = await person.ask("plan", "-f", person.file(wanting("more")))
    assert code == 2
    assert "denied the request: by policy" in out


async def test_who_may_not_try_gets_the_verdict_of_our_rules(person: Person) -> None:
    person.api.denied = {"create externalsecrets"}
    fine, wrong = wanting("more"), wanting("wrong", refreshPolicy="Sometimes")
    document = await person.json("plan", "-f", person.file(fine, wrong))
    assert [(each["action"], each["tried"]) for each in document["objects"]] == [
        ("create", False),
        ("refused", False),
    ]
    assert [each["object"] for each in document["changes"]] == ["Secret/shop/more"]


async def test_what_a_cluster_wide_one_would_make(person: Person) -> None:
    metadata = {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop"}}
    person.api.add({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    made = {
        "apiVersion": API,
        "kind": "ClusterExternalSecret",
        "metadata": {"name": "all"},
        "spec": {
            "namespaces": ["shop"],
            "externalSecretName": "child",
            "externalSecretSpec": wanting("x")["spec"],
        },
    }
    document = await person.json("plan", "-f", person.file(made))
    assert [each["object"] for each in document["objects"]] == ["ClusterExternalSecret/all"]
    assert [(each["action"], each["object"]) for each in document["changes"]] == [
        ("create", "ExternalSecret/shop/child"),
        ("create", "Secret/shop/child"),
    ]


async def test_what_would_be_pushed(person: Person) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "login", "namespace": "shop"},
        "data": {"a": "c2VzYW1l"},
    }
    person.api.add(secret)
    spec: Document = {
        "secretStoreRefs": [{"name": "s"}],
        "selector": {"secret": {"name": "login"}},
        "data": [{"match": {"secretKey": "a", "remoteRef": {"remoteKey": "pushed"}}}],
    }
    pushing = named("PushSecret", "p", spec) | {"apiVersion": "external-secrets.io/v1alpha1"}
    document = await person.json("plan", "-f", person.file(pushing))
    assert document["failures"] == []
    assert document["pushes"] == [
        {"action": "push", "store": "SecretStore/shop/s", "remoteKey": "pushed", "property": ""}
    ]
    assert document["calls"] == [], "nothing was pushed"
    assert "sesame" not in json.dumps(document)
