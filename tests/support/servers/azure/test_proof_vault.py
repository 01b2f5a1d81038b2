"""Azure's clients of Key Vault work on the server. Nothing of syncret takes part."""

import asyncio
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from tests.support.servers.azure.directory import OTHER_TENANT
from tests.support.servers.azure.files import certificate, pem, pfx
from tests.support.servers.azure.sdk import (
    QUICK,
    certificates,
    credential,
    exceptions,
    keys,
    refused,
    secrets,
    vault,
)
from tests.support.servers.azure.server import Azure

THEN = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


async def test_secrets_and_their_versions(cloud: Azure) -> None:
    def script() -> None:
        client = vault(cloud, secrets)
        first = client.set_secret("db", "one", tags={"team": "a"}, content_type="text/plain", expires_on=THEN)
        second = client.set_secret("db", "two", not_before=THEN)

        assert client.get_secret("db").value == "two"
        assert client.get_secret("db", first.properties.version).value == "one"
        found = client.get_secret("db", first.properties.version).properties
        assert (found.tags, found.content_type, found.expires_on) == ({"team": "a"}, "text/plain", THEN)
        assert found.enabled
        assert found.recovery_level == "Recoverable+Purgeable"
        assert client.get_secret("db").properties.not_before == THEN
        listed = [each.version for each in client.list_properties_of_secret_versions("db")]
        assert listed == [first.properties.version, second.properties.version]

        changed = client.update_secret_properties(
            "db", second.properties.version, tags={"x": "y"}, enabled=False, content_type="b"
        )
        assert (changed.tags, changed.enabled, changed.content_type) == ({"x": "y"}, False, "b")
        with refused(403, "Forbidden"):
            client.get_secret("db")
        assert client.get_secret("db", first.properties.version).value == "one"

    await asyncio.to_thread(script)


async def test_lists_in_pages(cloud: Azure) -> None:
    def script() -> None:
        client = vault(cloud, secrets)
        names = [f"db-{index:02}" for index in range(30)]
        for name in names:
            client.set_secret(name, "x", tags={"name": name})
        pages = [[each.name for each in page] for page in client.list_properties_of_secrets().by_page()]
        assert [len(page) for page in pages] == [25, 5]
        assert [name for page in pages for name in page] == names
        small = client.list_properties_of_secrets(max_page_size=7)
        assert [(each.name, each.tags, each.enabled) for each in small] == [
            (name, {"name": name}, True) for name in names
        ]

    await asyncio.to_thread(script)


async def test_deletes_recovers_and_purges(cloud: Azure) -> None:
    def script() -> None:
        client = vault(cloud, secrets)
        client.set_secret("db", "one")
        gone = client.begin_delete_secret("db", **QUICK).result()
        assert gone.recovery_id == f"{cloud.secure_url}/deletedsecrets/db"
        assert gone.scheduled_purge_date > gone.deleted_date
        with refused(404, "SecretNotFound"):
            client.get_secret("db")
        with refused(409, "Conflict"):
            client.set_secret("db", "two")
        assert [each.name for each in client.list_deleted_secrets()] == ["db"]
        assert client.begin_recover_deleted_secret("db", **QUICK).result().name == "db"
        assert client.get_secret("db").value == "one"
        client.begin_delete_secret("db", **QUICK).wait()
        client.purge_deleted_secret("db")
        assert list(client.list_deleted_secrets()) == []
        assert client.set_secret("db", "three").value == "three"

    await asyncio.to_thread(script)


async def test_keys(cloud: Azure) -> None:
    def script() -> None:
        client = vault(cloud, keys)
        made = client.create_rsa_key("made", size=2048, tags={"a": "b"})
        assert (made.key_type, made.properties.tags) == ("RSA", {"a": "b"})
        numbers = ec.generate_private_key(ec.SECP521R1()).private_numbers()
        public = numbers.public_numbers
        web_key = keys.JsonWebKey(
            kty="EC",
            crv="P-521",
            x=public.x.to_bytes(66, "big"),
            y=public.y.to_bytes(66, "big"),
            d=numbers.private_value.to_bytes(66, "big"),
        )
        client.import_key("curve", web_key)
        found = client.get_key("curve")
        assert (found.key.crv, found.key.x, found.key.d) == ("P-521", public.x.to_bytes(66, "big"), None)
        assert client.get_key("curve", found.properties.version).id == found.id
        assert [each.name for each in client.list_properties_of_keys()] == ["curve", "made"]
        changed = client.update_key_properties("curve", tags={"x": "y"}, expires_on=THEN)
        assert (changed.properties.tags, changed.properties.expires_on) == ({"x": "y"}, THEN)
        with refused(400, "BadParameter"):
            client.import_key("curve", keys.JsonWebKey(kty="oct", k=b"0123456789abcdef"))
        client.begin_delete_key("curve", **QUICK).wait()
        with refused(404, "KeyNotFound"):
            client.get_key("curve")
        assert client.begin_recover_deleted_key("curve", **QUICK).result().name == "curve"

    await asyncio.to_thread(script)


async def test_certificates_and_what_backs_them(cloud: Azure) -> None:
    def script() -> None:
        client = vault(cloud, certificates)
        first, second = certificate("one"), certificate("two")
        in_pem = certificates.CertificatePolicy(
            "Unknown", content_type=certificates.CertificateContentType.pem
        )
        client.import_certificate("web", pfx(first, "one"), tags={"a": "b"})
        client.import_certificate("web", pem(second, "two"), policy=in_pem)
        found = client.get_certificate("web")
        assert bytes(found.cer) == second.public_bytes(Encoding.DER)
        assert found.policy.content_type == "application/x-pem-file"
        versions = list(client.list_properties_of_certificate_versions("web"))
        assert [each.tags for each in versions] == [{"a": "b"}, None]
        old = client.get_certificate_version("web", versions[0].version)
        assert bytes(old.cer) == first.public_bytes(Encoding.DER)

        backing = vault(cloud, secrets).get_secret("web")
        assert backing.value == pem(second, "two").decode()
        assert (backing.properties.content_type, backing.properties.managed) == (
            "application/x-pem-file",
            True,
        )
        assert vault(cloud, keys).get_key("web").properties.managed
        with refused(400, "BadParameter"):
            client.import_certificate("web", pem(second, "two"))
        assert [each.name for each in client.list_properties_of_certificates()] == ["web"]
        client.begin_delete_certificate("web", **QUICK).wait()
        with refused(404, "CertificateNotFound"):
            client.get_certificate("web")
        with refused(404, "SecretNotFound"):
            vault(cloud, secrets).get_secret("web")
        assert client.begin_recover_deleted_certificate("web", **QUICK).result().name == "web"
        assert vault(cloud, secrets).get_secret("web").properties.managed

    await asyncio.to_thread(script)


async def test_errors(cloud: Azure) -> None:
    def script() -> None:
        client = vault(cloud, secrets)
        client.set_secret("db", "one")
        with refused(404, "SecretNotFound"):
            client.get_secret("absent")
        with refused(404, "SecretNotFound"):
            client.get_secret("db", "0" * 32)
        with refused(400, "BadParameter"):
            client.get_secret("a_b")
        with refused(400, "BadParameter"):
            client.set_secret("db", "x" * 25_601)
        outsider = cloud.directory.register("outsider", secret="x").client_id
        theirs = vault(cloud, secrets, credential(cloud, client_id=outsider, client_secret="x"))
        with refused(403, "Forbidden"):
            theirs.get_secret("db")
        stranger = cloud.directory.register("stranger", OTHER_TENANT, secret="x").client_id
        cloud.vault.members.add(stranger)
        elsewhere = credential(
            cloud,
            tenant=OTHER_TENANT,
            client_id=stranger,
            client_secret="x",
            additionally_allowed_tenants=["*"],
        )
        # The client goes by the challenge to the vault's tenant, which does not know the application.
        try:
            vault(cloud, secrets, elsewhere).get_secret("db")
        except exceptions.ClientAuthenticationError as error:
            assert "AADSTS700016" in str(error)  # noqa: PT017  # either of the two is right
        else:
            raise AssertionError

    await asyncio.to_thread(script)
