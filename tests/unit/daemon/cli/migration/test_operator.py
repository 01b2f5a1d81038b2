"""ESO's Deployments are found by their image, and their arguments are told as settings."""

from collections.abc import Sequence

import pytest

from syncret.config.meta import Document
from syncret.daemon.cli.migration.operator import parts_of, translated

IMAGE = "registry.example/eso/external-secrets:v0.20.4"


def deployment(name: str, image: str, args: Sequence[str] = (), **spec: object) -> Document:
    container = {
        "name": "c",
        "image": image,
        "args": list(args),
        "env": [{"name": "VAULT_ADDR", "value": "v"}],
    }
    pod = {"spec": {"containers": [{"name": "sidecar", "image": "proxy:1"}, container]}}
    return {"metadata": {"namespace": "eso", "name": name}, "spec": {"template": pod, **spec}}


@pytest.mark.parametrize(
    ("image", "found"),
    [
        pytest.param(IMAGE, True, id="tag"),
        pytest.param("external-secrets", True, id="bare"),
        pytest.param("registry:5000/external-secrets@sha256:abc", True, id="digest"),
        pytest.param("registry.example/external-secrets/proxy:1", False, id="another image of the vendor"),
        pytest.param("external-secrets-extra:1", False, id="longer name"),
    ],
)
def test_it_is_known_by_its_image(image: str, found: bool) -> None:  # noqa: FBT001  # a table
    assert bool(list(parts_of([deployment("any", image)]))) is found


def test_its_three_parts_are_told_apart() -> None:
    parts = list(
        parts_of(
            [
                deployment("external-secrets", IMAGE, ["--concurrent=5"], replicas=2),
                deployment("hook", IMAGE, ["webhook", "--port=10250"], replicas=0),
                deployment("certs", IMAGE, ["certcontroller"]),
                deployment("shop", "shop:1"),
            ]
        )
    )
    assert [(str(each), each.subcommand, each.replicas) for each in parts] == [
        ("eso/external-secrets", "", 2),
        ("eso/hook", "webhook", 0),
        ("eso/certs", "certcontroller", 1),
    ]
    assert parts[0].variables == {"VAULT_ADDR": "v"}


def test_flags_are_settings() -> None:
    found = translated(
        [
            "--concurrent=5",
            "--controller-class=edge",
            "--namespace=payments",
            "--enable-leader-election",
            "--enable-cluster-store-reconciler=false",
            "--loglevel=warn",
            "--experimental-enable-something=true",
            "--template-left-delimiter=<<",
        ]
    )
    assert {each.name: each.value for each in found.settings} == {
        "controllerClass": "edge",
        "namespace": "payments",
        "leaderElection.enabled": "true",
        "process.clusterStore": "false",
        "logLevel": "warning",
        "templateDelimiters.left": "<<",
    }
    assert {name for name, _ in found.without_effect} == {"--concurrent", "--experimental-enable-something"}
    assert found.impossible == []


def test_what_cannot_be_had_is_not_passed_over() -> None:
    assert translated(["--brand-new"]).impossible == ["--brand-new: is not known"]
