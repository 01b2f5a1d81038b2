"""The runner itself: what it does not know, and what differs, fails; nothing is passed over."""

import base64
from collections.abc import Mapping
from pathlib import Path

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from tests.suites.corpus.runners import functions, verdicts
from tests.suites.corpus.runners.cases import Case, corpus
from tests.suites.corpus.runners.comparing import Unknown
from tests.suites.corpus.runners.expectations import mismatches
from tests.suites.corpus.runners.scenarios import translate
from tests.suites.corpus.runners.seen import Seen
from tests.suites.corpus.runners.table import FAILED, PASSED, WAITING, Entry, lines


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


SUBJECT: Document = {
    "apiVersion": "external-secrets.io/v1",
    "kind": "ExternalSecret",
    "metadata": {"name": "es", "namespace": "default", "uid": "u-1", "finalizers": ["f"]},
    "status": {
        "conditions": [
            {"type": "Ready", "status": "True", "reason": "SecretSynced", "message": "secret synced"}
        ],
        "binding": {"name": "es"},
        "syncedPushSecrets": {"SecretStore/s": {"k": {"match": {}}}},
    },
}
SECRET: Document = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {
        "name": "es",
        "namespace": "default",
        "labels": {"l": "1"},
        "ownerReferences": [{"uid": "u-1", "controller": True}],
    },
    "type": "Opaque",
    "data": {"x": encoded("v"), "y": encoded("w")},
}
WRITE = {"store": "SecretStore/s", "namespace": "default", "remoteKey": "k", "property": "", "metadata": None}
SEEN = Seen(
    subject=SUBJECT,
    objects=[SUBJECT, SECRET],
    changes=[
        {"action": "update", "apiVersion": "v1", "kind": "Secret", "namespace": "default", "name": "es"}
    ],
    writes=[{**WRITE, "valueBase64": encoded("v")}],
    deletes=[{"store": "SecretStore/s", "namespace": "default", "remoteKey": "gone", "property": ""}],
    rejected=[],
    held={("SecretStore/s", "k", ""): b"v"},
)
PUSH = {"store": "SecretStore/s", "remoteKey": "k", "value": "v"}
BOTH = {"x": "v", "y": "w"}


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param(
            {"condition": {"status": "True", "reason": "SecretSynced", "message": "synced"}}, id="condition"
        ),
        pytest.param({"secret": {"name": "es", "data": {"x": "v"}}}, id="data is a part"),
        pytest.param(
            {"secret": {"name": "es", "data": BOTH, "exact_data": True, "owned": True}}, id="exact data"
        ),
        pytest.param({"secret": {"name": "es", "data_regex": {"x": "^v$"}, "type": "Opaque"}}, id="regex"),
        pytest.param({"pushed": [PUSH], "provider_value": PUSH}, id="pushed"),
        pytest.param({"deleted": [{"store": "SecretStore/s", "remoteKey": "gone"}]}, id="deleted"),
        pytest.param({"syncedPushSecrets_keys": {"SecretStore/s": ["k"]}, "finalizers": ["f"]}, id="status"),
        pytest.param({"absent_secrets": ["other"], "secret_unchanged": False, "binding": "es"}, id="others"),
    ],
)
def test_what_holds(expected: Mapping[str, Json]) -> None:
    assert list(mismatches(expected, SEEN)) == []


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param({"condition": {"status": "False"}}, id="status"),
        pytest.param({"condition": {"status": "True", "reason": "Synced"}}, id="reason"),
        pytest.param({"condition": {"status": "True", "message_contains": "deleted"}}, id="message"),
        pytest.param({"condition": {"status": "True", "type": "Deleted"}}, id="type of condition"),
        pytest.param({"no_condition": True}, id="there is a condition"),
        pytest.param({"secret": {"name": "es", "data": {"x": "w"}}}, id="value"),
        pytest.param({"secret": {"name": "es", "data": {"x": "v"}, "exact_data": True}}, id="one key more"),
        pytest.param(
            {"secret": {"name": "es", "data_regex": {"x": "^v"}, "exact_keys": True}}, id="one more key"
        ),
        pytest.param({"secret": {"name": "es", "data_regex": {"x": "^w"}}}, id="regex"),
        pytest.param({"secret": {"name": "es", "owned": False}}, id="owned"),
        pytest.param({"secret": {"name": "es", "immutable": True}}, id="immutable"),
        pytest.param({"secret": {"name": "es", "absent_labels": ["l"]}}, id="label that must not be there"),
        pytest.param({"secret": {"name": "es", "labels": {"l": "2"}}}, id="label"),
        pytest.param({"secret": {"name": "es", "finalizers": ["x"]}}, id="finalizer of a secret"),
        pytest.param({"secret": {"name": "other"}}, id="no such secret"),
        pytest.param({"absent_secrets": ["es"]}, id="secret that must not be there"),
        pytest.param({"secret_unchanged": True}, id="a write"),
        pytest.param({"pushed": []}, id="a push that nobody expects"),
        pytest.param({"pushed": [{**PUSH, "value": "w"}]}, id="pushed value"),
        pytest.param({"pushed": [{**PUSH, "property": "p"}]}, id="pushed property"),
        pytest.param({"pushed": [{**PUSH, "metadata": {"a": 1}}]}, id="pushed metadata"),
        pytest.param({"pushed": [PUSH, {**PUSH, "remoteKey": "l"}]}, id="a push that did not come"),
        pytest.param({"deleted": []}, id="a deletion that nobody expects"),
        pytest.param({"provider_value": {**PUSH, "value": "w"}}, id="provider value"),
        pytest.param({"syncedPushSecrets_keys": {}}, id="a store too many"),
        pytest.param({"syncedPushSecrets": {"SecretStore/s": {"l": {}}}}, id="entry of the status"),
        pytest.param({"status_has": ["refreshTime"]}, id="field of the status"),
        pytest.param({"finalizers": []}, id="finalizers"),
        pytest.param({"binding": None}, id="binding"),
        pytest.param({"rejected_at_admission": True}, id="not rejected"),
        pytest.param({"provisionedNamespaces": ["a"]}, id="namespaces"),
        pytest.param({"store_condition": {"name": "s", "status": "True"}}, id="no such store"),
        pytest.param(
            {"object": {"apiVersion": "v1", "kind": "Secret", "name": "es", "type": "x"}}, id="object"
        ),
        pytest.param(
            {"absent_objects": [{"apiVersion": "v1", "kind": "Secret", "name": "es"}]}, id="no object"
        ),
    ],
)
def test_what_differs(expected: Mapping[str, Json]) -> None:
    assert list(mismatches(expected, SEEN))


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param({"nobody_knows": 1}, id="unknown expectation"),
        pytest.param({"condition": {"status": "True", "since": "now"}}, id="unknown field of a condition"),
        pytest.param({"secret": {"name": "es", "size": 2}}, id="unknown field of a secret"),
        pytest.param({"pushed": [{**PUSH, "size": 1}]}, id="unknown field of a push"),
        pytest.param({"deleted": [{"store": "s", "size": 1}]}, id="unknown field of a deletion"),
        pytest.param({"absent_objects": [{"name": "es", "size": 1}]}, id="unknown field of an object"),
    ],
)
def test_what_nobody_knows(expected: Mapping[str, Json]) -> None:
    with pytest.raises(Unknown):
        list(mismatches(expected, SEEN))


def case(body: Mapping[str, Json], file: str = "externalsecret_cases.yaml", group: str = "cases") -> Case:
    return Case(file, group, "case", body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"nobody_knows": 1}, id="member of a case"),
        pytest.param({"steps": [{"action": "dance"}]}, id="action"),
        pytest.param({"steps": [{"action": "resync", "loudly": True}]}, id="member of a step"),
        pytest.param({"inject": {"sneeze": "text"}}, id="operation of inject"),
        pytest.param({"provider_behaviour": "odd"}, id="behaviour"),
        pytest.param({"pushSecret": SUBJECT}, id="two resources"),
    ],
)
def test_what_cannot_be_translated(body: Mapping[str, Json]) -> None:
    with pytest.raises(Unknown):
        translate(case({"externalSecret": SUBJECT, "expect": {}, **body}), "case")


def test_functions_know_every_member() -> None:
    body = {"strategy": "None", "in": "a", "want": "a", "more": 1}
    with pytest.raises(Unknown, match=r"case\.more"):
        list(functions.mismatches(case(body, "decode_convert.json", "decode")))


def test_verdicts_know_every_member() -> None:
    body: Document = {"manifest": {}, "want": "accept", "more": 1}
    with pytest.raises(Unknown, match=r"case\.more"):
        list(verdicts.mismatches(case(body), verdicts.Verdict([], {})))


def test_table() -> None:
    entries = [
        Entry("a", "process", "one", PASSED, ""),
        Entry("a", "process", "two", FAILED, "expected 1; came 2"),
        Entry("b", "process", "three", WAITING, "templates"),
    ]
    assert list(lines(entries, ["new.yaml"])) == [
        "family  lane     passed/total  waiting  uncertain",
        "a       process           1/2        -          -",
        "b       process           0/0        1          -",
        "",
        "failed: a, process: two",
        "    expected 1; came 2",
        "",
        "waiting, in whole or in part: b (templates)",
        "",
        "not run, since nothing here knows their cases: new.yaml",
    ]


def test_what_nothing_runs_is_reported_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text("cases: [{id: a}]")
    (tmp_path / "rewrite.json").write_text('{"note": "", "cases": [{"id": "b"}], "new_cases": [{"id": "c"}]}')
    found = corpus(str(tmp_path))

    assert [each.id for each in found.cases if not each.own] == ["b"]
    assert found.not_run == ["new.yaml", "new_cases of rewrite.json"]


def test_all_cases_of_the_repository_are_run() -> None:
    found = corpus(None)

    assert found.not_run == []
    assert {each.own for each in found.cases} == {True, False}


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="SYNCRET_CORPUS"):
        corpus(str(tmp_path / "none"))
