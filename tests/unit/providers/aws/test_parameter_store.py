"""What only Parameter Store does: batches, versions, options of a push."""

import pytest

from syncret.providers.errors import Denied, Malformed
from syncret.providers.pushes import PushItem
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes
from tests.support.servers.aws import Gateway
from tests.unit.providers.aws.support import Open, found_by, keys, push

pytestmark = pytest.mark.slow


async def parameters(gate: Gateway, *names: str) -> None:
    for name in names:
        await gate.behind("ssm", "PutParameter", Name=name, Value=name, Type="String")


async def test_one_of_ten_parameters_is_denied(gate: Gateway, opened: Open) -> None:
    names = [f"/p/{number}" for number in range(10)]
    await parameters(gate, *names)
    gate.refused = {"/p/3"}
    async with opened("ParameterStore") as client:
        first = await client.fetch(keys(*names))
        gate.calls.clear()
        second = await client.fetch(keys(*names))

    for found in (first, second):
        assert [key.key for key, value in found.items() if isinstance(value, Denied)] == ["/p/3"]
    assert sorted(call.operation for call in gate.calls) == ["GetParameter", "GetParameters"]


async def test_versions_and_labels_of_a_parameter(gate: Gateway, opened: Open) -> None:
    await parameters(gate, "/a")
    await gate.behind("ssm", "LabelParameterVersion", Name="/a", ParameterVersion=1, Labels=["good"])
    await gate.behind("ssm", "PutParameter", Name="/a", Value="new", Type="String", Overwrite=True)
    wanted = [RemoteKey("/a"), RemoteKey("/a", "1"), RemoteKey("/a", "good")]
    async with opened("ParameterStore") as client:
        found = dict(await client.fetch([*wanted, RemoteKey("/absent")]))
        found |= await client.fetch([RemoteKey("/absent", "1")])

    assert found == dict(zip(wanted, map(SecretBytes, (b"new", b"/a", b"/a")), strict=True))


@pytest.mark.parametrize("together", [pytest.param(False, id="alone"), pytest.param(True, id="in a batch")])
async def test_a_missing_version_is_no_deletion(gate: Gateway, opened: Open, *, together: bool) -> None:
    """As in the operator, only a parameter that does not exist at all is absent."""
    await parameters(gate, "/a", "/b")
    missing = RemoteKey("/a", "9")
    async with opened("ParameterStore") as client:
        found = await client.fetch([missing, *([RemoteKey("/b")] if together else [])])
    error = found[missing]

    assert isinstance(error, Malformed)
    assert "ParameterVersionNotFound" in error.message
    assert "remoteRef.version" in error.hint
    assert not together or found[RemoteKey("/b")] == SecretBytes(b"/b")


async def test_finding_without_the_right_to_paths(gate: Gateway, opened: Open) -> None:
    await parameters(gate, "/a/x", "/a/y", "/b/x")
    gate.forbidden = {"GetParametersByPath"}
    async with opened("ParameterStore") as client:
        found = await found_by(client, FindQuery(name="x$", path="/a"))

    assert set(found) == {"/a/x"}


async def test_options_of_a_parameter(gate: Gateway, opened: Open) -> None:
    spec = {
        "secretType": "SecureString",
        "kmsKeyID": "alias/ours",
        "tier": {"type": "Advanced"},
        "tags": {"t": "a"},
    }
    async with opened("ParameterStore") as client:
        await client.push(push("/p", b"one", **spec))
        before = gate.writes()
        await client.push(push("/p", b"one", **spec))
        assert gate.writes() == before
        await client.push(push("/p", b"one", **spec | {"tags": {"u": "b"}}))
    [put] = [call.parameters for call in gate.calls if call.operation == "PutParameter"]
    tags = await gate.behind("ssm", "ListTagsForResource", ResourceType="Parameter", ResourceId="/p")

    assert (put["Type"], put["KeyId"], put["Tier"]) == ("SecureString", "alias/ours", "Advanced")
    assert {tag["Key"]: tag["Value"] for tag in tags["TagList"]} == {
        "u": "b",
        "managed-by": "external-secrets",
    }


@pytest.mark.parametrize(
    ("decoded", "expected"),
    [pytest.param(False, '{"k":"b25l"}', id="base64"), pytest.param(True, '{"k":"one"}', id="decoded")],
)
async def test_a_whole_secret_as_a_parameter(
    gate: Gateway, opened: Open, expected: str, *, decoded: bool
) -> None:
    spec = {"encodeAsDecoded": decoded}
    metadata = push("", b"", **spec).metadata
    whole = PushItem("/p", "", SecretBytes(b'{"k":"one"}'), metadata=metadata, source={"data": {"k": "b25l"}})
    async with opened("ParameterStore") as client:
        await client.push(whole)
    stored = await gate.behind("ssm", "GetParameter", Name="/p")

    assert stored["Parameter"]["Value"] == expected


@pytest.mark.parametrize("value", [pytest.param(b"\xffcanary", id="binary"), pytest.param(b"", id="empty")])
async def test_what_no_parameter_can_hold(opened: Open, value: bytes) -> None:
    async with opened("ParameterStore") as client:
        with pytest.raises(Malformed) as caught:
            await client.push(push("/p", value))
    assert "canary" not in repr(caught.value)
