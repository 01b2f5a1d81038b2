"""What counts as a difference between what we want and what there is."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest

from syncret.config.meta import Document
from syncret.daemon.operator.compare import difference, is_unchanged, others

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
EVERYBODY: Document = {"from": []}
NODES: Document = {REQUIRED: {"nodeSelectorTerms": [{"matchFields": []}]}}
MORE_NODES: Document = {**NODES, PREFERRED: [1]}
POD = "/spec/template/spec"
PORT = {"name": "metrics", "containerPort": 8080, "protocol": "TCP"}
WANTED: Document = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "a", "namespace": "n", "labels": {"app": "x"}},
    "spec": {
        "selector": {"matchLabels": {"app": "x"}},
        "template": {
            "metadata": {"labels": {"app": "x"}},
            "spec": {
                "automountServiceAccountToken": False,
                "tolerations": [{"key": "k", "operator": "Exists"}],
                "containers": [
                    {
                        "name": "main",
                        "image": "i:1",
                        "args": ["run"],
                        "env": [{"name": "A", "value": ""}],
                        "ports": [PORT],
                        "resources": {"limits": {"cpu": "0.5", "memory": "1024Mi"}},
                    }
                ],
            },
        },
    },
}


def live() -> Any:  # noqa: ANN401  # JSON
    """As the API server gives it back: with its defaults, in its spelling."""
    found = deepcopy(WANTED)
    del found["spec"]["template"]["spec"]["automountServiceAccountToken"]
    container = found["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"limits": {"cpu": "500m", "memory": "1Gi"}}
    container["env"] = [{"name": "A"}]
    container["terminationMessagePath"] = "/dev/termination-log"
    found["spec"] |= {"replicas": 3, "strategy": {"type": "RollingUpdate"}}
    found["metadata"]["labels"]["theirs"] = "y"
    fields: Document = {
        "f:metadata": {"f:labels": {"f:app": {}}},
        "f:spec": {
            "f:template": {
                "f:spec": {"f:containers": {'k:{"name":"main"}': {".": {}, "f:name": {}, "f:image": {}}}}
            }
        },
    }
    booked: Document = {"manager": "syncret-operator", "operation": "Apply", "fieldsV1": fields}
    found["metadata"]["managedFields"] = [booked]
    return found


def pod(document: Any) -> Any:  # noqa: ANN401  # JSON
    return document["spec"]["template"]["spec"]


def test_defaults_and_other_spellings_are_no_difference() -> None:
    assert not difference(WANTED, live())


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("image", "i:2"),
        ("args", ["run", "more"]),
        ("resources", {"limits": {"cpu": "501m", "memory": "1Gi"}}),
        ("resources", {}),
    ],
)
def test_another_value_of_ours_is_a_difference(member: str, value: object) -> None:
    found = live()
    pod(found)["containers"][0][member] = value
    assert difference(WANTED, found).ours


def test_what_others_put_into_our_lists_is_named_from_the_end() -> None:
    found = live()
    found["spec"]["template"]["spec"] |= {"nodeSelector": {"a": "b"}, "volumes": [{"name": "v"}]}
    container = pod(found)["containers"][0]
    container["env"] += [{"name": "B", "value": "1"}, {"name": "C", "value": "2"}]
    container["envFrom"] = [{"configMapRef": {"name": "c"}}]
    pod(found)["containers"].insert(0, {"name": "foreign"})
    at = "/spec/template/spec"
    assert set(difference(WANTED, found).foreign) == {
        f"{at}/containers/1/env/2",
        f"{at}/containers/1/env/1",
        f"{at}/containers/1/envFrom",
        f"{at}/containers/0",
        f"{at}/nodeSelector",
        f"{at}/volumes",
    }
    paths = list(difference(WANTED, found).foreign)
    assert paths.index(f"{at}/containers/1/env/2") < paths.index(f"{at}/containers/1/env/1")
    assert paths.index(f"{at}/containers/1/envFrom") < paths.index(f"{at}/containers/0")


@pytest.mark.parametrize(
    ("kind", "wanted", "found", "foreign"),
    [
        pytest.param(
            "Service",
            {"selector": {"a": "b"}},
            {"selector": {"a": "b", "c": "d"}},
            (),
            id="a label to select",
        ),
        pytest.param(
            "NetworkPolicy",
            {"podSelector": {}},
            {"podSelector": {"matchLabels": {"a": "b"}}},
            (),
            id="fewer pods of a policy for all",
        ),
        pytest.param(
            "NetworkPolicy",
            {"podSelector": {}, "policyTypes": ["Ingress"]},
            {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [EVERYBODY]},
            ("/spec/ingress",),
            id="a rule of a policy without one",
        ),
    ],
)
def test_what_others_add_to_what_is_ours_alone_is_a_difference(
    kind: str, wanted: Document, found: Document, foreign: Sequence[str]
) -> None:
    head: Document = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}}
    entry: Document = {"manager": "syncret-operator", "operation": "Apply", "fieldsV1": {}}
    there = {**head, "metadata": {"name": "x", "managedFields": [entry]}}
    assert not difference({**head, "spec": wanted}, {**there, "spec": wanted})
    result = difference({**head, "spec": wanted}, {**there, "spec": found})
    assert result
    assert result.foreign == foreign


@pytest.mark.parametrize(
    ("wanted", "found", "foreign"),
    [
        pytest.param({"nodeSelector": {"a": "b"}}, {"nodeSelector": {"a": "b", "c": "d"}}, (), id="nodes"),
        pytest.param(
            {"affinity": {"nodeAffinity": NODES}},
            {"affinity": {"nodeAffinity": MORE_NODES, "podAffinity": {PREFERRED: [1]}}},
            (f"{POD}/affinity/nodeAffinity/{PREFERRED}", f"{POD}/affinity/podAffinity"),
            id="affinity",
        ),
    ],
)
def test_where_pods_go_is_ours_alone(wanted: Document, found: Document, foreign: Sequence[str]) -> None:
    there, mine = live(), deepcopy(WANTED)
    mine["spec"]["template"]["spec"] |= wanted
    there["spec"]["template"]["spec"] |= wanted
    assert not difference(mine, there)
    there["spec"]["template"]["spec"] |= found
    result = difference(mine, there)
    assert result
    assert result.foreign == foreign


def test_a_list_that_is_one_value_has_nothing_foreign() -> None:
    found = live()
    pod(found)["tolerations"].append({"key": "theirs"})
    assert difference(WANTED, found) == (True, ())


def test_what_is_booked_as_ours_and_not_wanted_any_more_is_a_difference() -> None:
    found = live()
    fields = found["metadata"]["managedFields"][0]["fieldsV1"]
    fields["f:metadata"]["f:annotations"] = {"f:old": {}}
    assert difference(WANTED, found).ours


def test_what_we_never_applied_is_a_difference() -> None:
    found = live()
    found["metadata"]["managedFields"][0]["operation"] = "Update"
    assert difference(WANTED, found).ours


def test_of_a_secret_its_labels_alone_are_ours() -> None:
    wanted: Document = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {"name": "s", "labels": {"app": "x"}},
    }
    fields: Document = {"f:metadata": {"f:labels": {"f:app": {}}}, "f:type": {}}
    booked = {"manager": "syncret-operator", "operation": "Apply", "fieldsV1": fields}
    metadata = {"name": "s", "labels": {"app": "x", "b": "c"}, "managedFields": [booked]}
    assert not difference(wanted, {"metadata": metadata})
    assert difference(wanted, {"metadata": {**metadata, "labels": {"b": "c"}}}).ours


def test_durations_of_a_certificate_are_compared_as_values() -> None:
    fields: Document = {"f:spec": {"f:duration": {}}}
    booked = {"manager": "syncret-operator", "operation": "Apply", "fieldsV1": fields}
    wanted: Document = {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Certificate",
        "metadata": {"name": "c"},
        "spec": {"duration": "60m"},
    }
    found: Document = {"metadata": {"name": "c", "managedFields": [booked]}, "spec": {"duration": "1h0m0s"}}
    assert not difference(wanted, found)
    found["spec"]["duration"] = "2h0m0s"
    assert difference(wanted, found).ours


def test_a_dry_run_that_changes_times_alone_changes_nothing() -> None:
    before, after = live(), live()
    after["metadata"]["managedFields"][0]["time"] = "2026-01-01T00:00:00Z"
    assert is_unchanged(before, after)
    after["spec"]["replicas"] = 2
    assert not is_unchanged(before, after)


def test_who_else_wrote_last_is_named() -> None:
    found = live()
    assert others(found) == ""
    found["metadata"]["managedFields"] += [
        {"manager": "late", "operation": "Update", "time": "2026-01-02T00:00:00Z"},
        {"manager": "early", "operation": "Update", "time": "2026-01-01T00:00:00Z"},
        {
            "manager": "kubelet",
            "operation": "Update",
            "subresource": "status",
            "time": "2027-01-01T00:00:00Z",
        },
    ]
    assert others(found) == "late"
