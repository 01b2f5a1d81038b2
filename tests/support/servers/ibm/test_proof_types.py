"""Secrets of every type: made, read and rotated by the client of IBM. Nothing of syncret takes part."""

import asyncio
from typing import Any

import pytest

from tests.support.servers.ibm.sdk import Sdk, client, created, refused, sm
from tests.support.servers.ibm.server import Ibm
from tests.support.servers.ibm.types import self_signed


def _types() -> dict[str, tuple[Sdk, Sdk, dict[str, Any]]]:
    """By type: the model of a secret, the prototype's, and what it is created with."""
    certificate, key = self_signed("app.example")
    instance = sm.ServiceCredentialsSourceServiceInstance(crn="crn:v1:cos")
    return {
        "arbitrary": (sm.ArbitrarySecret, sm.ArbitrarySecretPrototype, {"payload": "x"}),
        "username_password": (
            sm.UsernamePasswordSecret,
            sm.UsernamePasswordSecretPrototype,
            {"username": "ada", "password": "p"},
        ),
        "iam_credentials": (
            sm.IAMCredentialsSecret,
            sm.IAMCredentialsSecretPrototype,
            {"ttl": "30m", "reuse_api_key": True},
        ),
        "service_credentials": (
            sm.ServiceCredentialsSecret,
            sm.ServiceCredentialsSecretPrototype,
            {"source_service": sm.ServiceCredentialsSecretSourceService(instance=instance)},
        ),
        "imported_cert": (
            sm.ImportedCertificate,
            sm.ImportedCertificatePrototype,
            {"certificate": certificate, "private_key": key},
        ),
        "public_cert": (
            sm.PublicCertificate,
            sm.PublicCertificatePrototype,
            {"ca": "letsencrypt", "dns": "cis", "common_name": "app.example"},
        ),
        "private_cert": (
            sm.PrivateCertificate,
            sm.PrivateCertificatePrototype,
            {"certificate_template": "template", "common_name": "app.example"},
        ),
        "kv": (sm.KVSecret, sm.KVSecretPrototype, {"data": {"a": {"b": 1}}}),
        "custom_credentials": (
            sm.CustomCredentialsSecret,
            sm.CustomCredentialsSecretPrototype,
            {"configuration": "job", "parameters": {"scope": "read"}},
        ),
    }


@pytest.mark.parametrize("kind", list(_types()))
async def test_every_type(cloud: Ibm, kind: str) -> None:
    def script() -> None:
        service = client(cloud)
        group = service.create_secret_group(name="team").get_result()
        model, prototype, fields = _types()[kind]
        made = created(service, prototype(name="it", secret_type=kind, secret_group_id=group["id"], **fields))
        by_id = service.get_secret(id=made["id"]).get_result()
        by_name = service.get_secret_by_name_type(
            secret_type=kind, name="it", secret_group_name="team"
        ).get_result()
        model.from_dict(by_id)  # raises where a field is lacking

        for read in (by_id, by_name):
            assert read.pop("retrieved_at")  # a second may pass between the two
        assert by_id == by_name
        assert by_id["secret_type"] == kind
        with refused(404, "not_found"):
            service.get_secret_by_name_type(secret_type=kind, name="it", secret_group_name="default")
        with refused(409, "conflict"):
            created(service, prototype(name="it", secret_type=kind, secret_group_id=group["id"], **fields))

    await asyncio.to_thread(script)


async def test_rotation(cloud: Ibm) -> None:
    def script() -> None:
        service = client(cloud)
        steps = {
            "username_password": ("password", sm.UsernamePasswordSecretVersionPrototype()),
            "iam_credentials": ("api_key", sm.IAMCredentialsSecretVersionPrototype()),
            "public_cert": (
                "certificate",
                sm.PublicCertificateVersionPrototype(rotation={"auto_rotate": False}),
            ),
            "kv": ("data", sm.KVSecretVersionPrototype(data={"a": 2})),
        }
        for kind, (field, version) in steps.items():
            _, prototype, fields = _types()[kind]
            made = created(service, prototype(name=f"r-{kind.replace('_', '-')}", secret_type=kind, **fields))
            before = service.get_secret(id=made["id"]).get_result()[field]
            service.create_secret_version(secret_id=made["id"], secret_version_prototype=version)
            assert service.get_secret(id=made["id"]).get_result()[field] != before
        dynamic = {"ttl": "30m", "reuse_api_key": False}
        made = created(
            service, sm.IAMCredentialsSecretPrototype(name="dyn", secret_type="iam_credentials", **dynamic)
        )
        keys = {service.get_secret(id=made["id"]).get_result()["api_key"] for _ in range(3)}
        assert len(keys) == 3, "each read makes an API key"

    await asyncio.to_thread(script)
