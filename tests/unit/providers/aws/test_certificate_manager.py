"""What only Certificate Manager does: pushes of whole Secrets, exports that are made once."""

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.pushes import PushItem
from syncret.providers.values import RemoteKey, SecretBytes
from tests.support.servers.aws import Gateway
from tests.unit.providers.aws.support import Open, keys, push

pytestmark = pytest.mark.slow


async def test_a_certificate_is_pushed_whole(opened: Open) -> None:
    async with opened("CertificateManager") as client:
        with pytest.raises(Malformed, match="secretKey must be empty"):
            await client.push(push("c", b"x"))
        for value, message in (
            (b"{}", '"tls.crt" not found'),
            (b'{"tls.crt":"canary","tls.key":"canary"}', 'failed to parse "tls.crt"'),
        ):
            with pytest.raises(Malformed, match=message) as caught:
                await client.push(PushItem("c", "", SecretBytes(value)))
            assert "canary" not in f"{caught.value!r} {caught.value.__context__!r}"


async def test_an_export_is_made_once(gate: Gateway, opened: Open) -> None:
    asked = {"DomainName": "example.org", "Options": {"Export": "ENABLED"}}
    arn = (await gate.behind("acm", "RequestCertificate", **asked))["CertificateArn"]
    closed = (await gate.behind("acm", "RequestCertificate", DomainName="example.com"))["CertificateArn"]
    async with opened("CertificateManager") as client:
        found = await client.fetch(keys(arn, closed))
        assert await client.fetch(keys(arn)) == {RemoteKey(arn): found[RemoteKey(arn)]}

    value = found[RemoteKey(arn)]
    assert isinstance(value, SecretBytes)
    assert value.raw.endswith(b"-----END PRIVATE KEY-----\n")
    assert isinstance(found[RemoteKey(closed)], Malformed)
    assert gate.count("ExportCertificate") == 1
