"""What only AWS does: batches and what is refused in them, options of a push, deletion, bad answers."""

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, TypeAlias

import pytest
from aiohttp import web

from syncret.config.fields import SecretKeySelector
from syncret.providers.aws import AwsClient, open_aws
from syncret.providers.aws.spec import AwsAuth, AwsSecretRef, AwsSpec, SecretsManagerSpec
from syncret.providers.contract import (
    Finder,
    FindQuery,
    PushItem,
    RemoteKey,
    RemoteRef,
    RemoteTarget,
    SecretBytes,
    SecretMap,
)
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from tests.servers import aws
from tests.servers.aws import Call, Fault, Gateway, gate, moto
from tests.support.opened import Given, context
from tests.support.served import all_to, served

__all__ = ["gate", "moto"]  # fixtures

pytestmark = pytest.mark.slow

Service: TypeAlias = Literal["SecretsManager", "ParameterStore", "CertificateManager"]
Open = Callable[..., AbstractAsyncContextManager[AwsClient]]
AUTH = AwsAuth(
    secret_ref=AwsSecretRef(
        access_key_id_secret_ref=SecretKeySelector(name="aws", key="id"),
        secret_access_key_secret_ref=SecretKeySelector(name="aws", key="secret"),
    )
)


@pytest.fixture
def given(gate: Gateway) -> Given:
    [(key, person)] = gate.people.items()
    return Given(secrets={"aws": {"id": key.encode(), "secret": person.secret.encode()}})


@pytest.fixture
def opened(given: Given) -> Open:
    def opened(
        service: Service = "SecretsManager",
        region: str = aws.REGION,
        **spec: Any,  # noqa: ANN401  # fields of the spec
    ) -> AbstractAsyncContextManager[AwsClient]:
        return open_aws(AwsSpec(service=service, region=region, auth=AUTH, **spec), context(given))

    return opened


async def secrets(gate: Gateway, *names: str, **more: object) -> None:
    for name in names:
        await gate.behind("secretsmanager", "CreateSecret", **{"Name": name, "SecretString": name} | more)


async def parameters(gate: Gateway, *names: str) -> None:
    for name in names:
        await gate.behind("ssm", "PutParameter", Name=name, Value=name, Type="String")


def keys(*names: str) -> list[RemoteKey]:
    return [RemoteKey(name) for name in names]


async def found_by(client: AwsClient, query: FindQuery) -> SecretMap:
    assert isinstance(client, Finder)
    return await client.find(query)


def push(name: str, value: bytes, **spec: object) -> PushItem:
    envelope = {"apiVersion": "kubernetes.external-secrets.io/v1alpha1", "kind": "PushSecretMetadata"}
    return PushItem(
        name,
        "",
        SecretBytes(value),
        metadata={**envelope, "spec": spec} if spec else None,
        secret_key="k",
        source={"metadata": {"namespace": "default"}},
    )


# -- Secrets Manager
async def test_secrets_are_asked_for_in_twenties(gate: Gateway, opened: Open) -> None:
    names = [f"s{number}" for number in range(40)]
    await secrets(gate, *names)
    async with opened() as client:
        found = await client.fetch(keys(*names, "absent"))

    assert found == {RemoteKey(name): SecretBytes(name.encode()) for name in names}
    assert [call.operation for call in gate.calls] == [
        "BatchGetSecretValue",
        "BatchGetSecretValue",
        "GetSecretValue",
    ]


async def test_one_of_twenty_is_denied(gate: Gateway, opened: Open) -> None:
    names = [f"s{number}" for number in range(20)]
    await secrets(gate, *names)
    gate.refused = {"s7"}
    async with opened() as client:
        found = await client.fetch(keys(*names))

    assert [key.key for key, value in found.items() if isinstance(value, SyncError)] == ["s7"]
    answer = found[RemoteKey("s7")]
    assert isinstance(answer, Denied)
    assert "no policy allows" not in str(answer)
    assert len(gate.calls) == 1


async def test_without_the_right_to_batches(gate: Gateway, opened: Open) -> None:
    await secrets(gate, "a", "b")
    gate.forbidden = {"BatchGetSecretValue"}
    async with opened() as client:
        first = await client.fetch(keys("a", "b"))
        assert await client.fetch(keys("a", "b")) == first

    assert len(first) == 2
    assert gate.count("BatchGetSecretValue") == 1


async def test_names_arns_and_prefixes(gate: Gateway, opened: Open) -> None:
    await secrets(gate, "team/a", "team/b")
    described = await gate.behind("secretsmanager", "DescribeSecret", SecretId="team/b")
    async with opened(prefix="team/") as client:
        assert await client.fetch(keys("a", "b")) == {
            RemoteKey("a"): SecretBytes(b"team/a"),
            RemoteKey("b"): SecretBytes(b"team/b"),
        }
    arn = described["ARN"]
    async with opened() as client:
        assert set(await client.fetch(keys("team/a", arn))) == {RemoteKey("team/a"), RemoteKey(arn)}


async def test_versions_by_id_and_tags(gate: Gateway, opened: Open) -> None:
    await secrets(gate, "a", Tags=[{"Key": "team", "Value": "x"}])
    old = await gate.behind("secretsmanager", "DescribeSecret", SecretId="a")
    [version] = old["VersionIdsToStages"]
    await gate.behind("secretsmanager", "PutSecretValue", SecretId="a", SecretString="new")
    wanted = [RemoteKey("a"), RemoteKey("a", f"uuid/{version}"), RemoteKey("a", metadata=True)]
    async with opened() as client:
        found = await client.fetch([*wanted, RemoteKey("a", "NOSTAGE"), RemoteKey("absent", metadata=True)])

    assert found == dict(zip(wanted, map(SecretBytes, (b"new", b"a", b'{"team":"x"}')), strict=True))


async def test_a_secret_marked_for_deletion_is_absent(gate: Gateway, opened: Open) -> None:
    await secrets(gate, "a", "b")
    await gate.behind("secretsmanager", "DeleteSecret", SecretId="a")
    async with opened() as client:
        assert await client.fetch(keys("a", "b")) == {RemoteKey("b"): SecretBytes(b"b")}
        assert await client.fetch(keys("a")) == {}


async def test_binary_where_json_is_expected(gate: Gateway, opened: Open) -> None:
    await gate.behind("secretsmanager", "CreateSecret", Name="bin", SecretBinary="/wCqY2FuYXJ5")
    async with opened() as client:
        [payload] = (await client.fetch(keys("bin"))).values()
        assert isinstance(payload, SecretBytes)
        assert payload.raw == b"\xff\x00\xaacanary"
        for ask in (client.value, client.fields):
            with pytest.raises(Malformed) as caught:
                ask(payload, RemoteRef("bin", "user"))
            assert "canary" not in f"{caught.value!r} {caught.value.__context__!r}"


async def test_tags_are_compared_in_full(gate: Gateway, opened: Open) -> None:
    await secrets(gate, "a", Tags=[{"Key": "team", "Value": "a"}])
    await secrets(gate, "b", Tags=[{"Key": "team", "Value": "ab"}])
    await secrets(gate, "c", Tags=[{"Key": "team", "Value": "b"}, {"Key": "x", "Value": "a"}])
    async with opened() as client:
        found = await found_by(client, FindQuery(name=".", tags=(("team", "a"),)))

    assert set(found) == {"a"}


async def test_a_find_that_is_refused_in_part_fails(gate: Gateway, opened: Open) -> None:
    await secrets(gate, "a", "b")
    gate.refused = {"b"}
    async with opened() as client:
        with pytest.raises(Denied, match=r"^b: "):
            await found_by(client, FindQuery(name="."))


async def test_all_options_of_a_push(gate: Gateway, given: Given, opened: Open) -> None:
    statement = {
        "Effect": "Allow",
        "Principal": "*",
        "Action": "secretsmanager:GetSecretValue",
        "Resource": "*",
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    given.config_maps["policies"] = {"open": policy}
    source = {"kind": "ConfigMap", "name": "policies", "key": "open"}
    spec = {
        "description": "d",
        "kmsKeyId": "alias/ours",
        "secretPushFormat": "string",
        "tags": {"team": "a"},
        "resourcePolicy": {"policySourceRef": source},
        "replicationLocations": ["eu-central-1"],
    }
    async with opened() as client:
        await client.push(push("p", b"one", **spec))
        before = gate.writes()
        await client.push(push("p", b"one", **spec))
        assert gate.writes() == before
        await client.push(
            push("p", b"one", **spec | {"tags": {"team": "b"}, "replicationLocations": ["eu-west-2"]})
        )
        there = await gate.behind("secretsmanager", "DescribeSecret", SecretId="p")
        stands = await gate.behind("secretsmanager", "GetResourcePolicy", SecretId="p")
        await client.push(push("p", b"two"))
        gone = await gate.behind("secretsmanager", "GetResourcePolicy", SecretId="p")

    assert (there["Description"], there["KmsKeyId"]) == ("d", "alias/ours")
    assert {tag["Key"]: tag["Value"] for tag in there["Tags"]} == {
        "team": "b",
        "managed-by": "external-secrets",
    }
    assert [status["Region"] for status in there["ReplicationStatus"]] == ["eu-west-2"]
    assert json.loads(stands["ResourcePolicy"]) == json.loads(policy)
    assert "ResourcePolicy" not in gone


@pytest.mark.parametrize(
    ("deletion", "said"),
    [
        pytest.param(None, {}, id="as AWS does"),
        pytest.param(
            SecretsManagerSpec(recovery_window_in_days=9), {"RecoveryWindowInDays": 9}, id="a window"
        ),
        pytest.param(
            SecretsManagerSpec(force_delete_without_recovery=True),
            {"ForceDeleteWithoutRecovery": True},
            id="at once",
        ),
    ],
)
async def test_deletion(
    gate: Gateway, opened: Open, deletion: SecretsManagerSpec | None, said: dict[str, object]
) -> None:
    async with opened(secrets_manager=deletion) as client:
        await client.push(push("p", b"one"))
        await client.delete(RemoteTarget("p"))
        [call] = [call for call in gate.calls if call.operation == "DeleteSecret"]
        assert {key: value for key, value in call.parameters.items() if key != "SecretId"} == said
        if deletion is None:
            with pytest.raises(Malformed, match="scheduled for deletion"):
                await client.push(push("p", b"two"))


# -- Parameter Store
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
        found = await client.fetch([*wanted, RemoteKey("/a", "9"), RemoteKey("/absent")])

    assert found == dict(zip(wanted, map(SecretBytes, (b"new", b"/a", b"/a")), strict=True))


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


# -- Certificate Manager
async def test_a_certificate_is_pushed_whole(opened: Open) -> None:
    async with opened("CertificateManager") as client:
        with pytest.raises(Malformed, match="secretKey must be empty"):
            await client.push(push("c", b"x"))
        for value, told in (
            (b"{}", '"tls.crt" not found'),
            (b'{"tls.crt":"canary","tls.key":"canary"}', 'failed to parse "tls.crt"'),
        ):
            with pytest.raises(Malformed, match=told) as caught:
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


# -- bad answers, wrong regions
async def test_retry_after_is_passed_on(gate: Gateway, opened: Open) -> None:
    gate.fault = Fault(429, "SomethingElse", "canary", {"Retry-After": "7"})
    async with opened() as client:
        with pytest.raises(Throttled) as caught:
            await client.fetch(keys("a", "b"))
    assert caught.value.retry_after == 7
    assert len(gate.calls) == 1, "the SDK tries nothing again"


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        pytest.param(Fault(500, "InternalServiceError"), Unavailable, id="500"),
        pytest.param(Fault(503, "canary: <html>"), Unavailable, id="503 of a proxy"),
        pytest.param(Fault(400, "canary: text"), Malformed, id="a code that is none"),
        pytest.param(Fault(400, "DecryptionFailure"), Malformed, id="a key that cannot be used"),
    ],
)
async def test_errors_of_the_server(
    gate: Gateway, opened: Open, fault: Fault, expected: type[SyncError]
) -> None:
    gate.fault = fault
    async with opened() as client:
        try:
            answer = (await client.fetch(keys("a")))[RemoteKey("a")]
        except SyncError as error:
            answer = error

    assert isinstance(answer, expected)
    assert "canary" not in f"{answer!r} {answer} {answer.__context__!r}"


@pytest.mark.parametrize("count", [1, 2])
async def test_html_is_no_absence(opened: Open, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    async def page(_request: web.Request) -> web.Response:
        return web.Response(text="<html>canary</html>", content_type="text/html")

    async with served(all_to(page)) as address:
        monkeypatch.setenv("AWS_SECRETSMANAGER_ENDPOINT", address)
        async with opened() as client:
            found = await client.fetch(keys("a", "b")[:count])

    assert len(found) == count
    assert all(isinstance(value, Malformed) and "canary" not in str(value) for value in found.values())


async def test_a_value_of_five_megabytes(gate: Gateway, opened: Open) -> None:
    async def large(_call: Call) -> dict[str, Any]:
        return {"Name": "a", "SecretString": "x" * 5_000_000}

    gate.replies["GetSecretValue"] = large
    async with opened() as client:
        [value] = (await client.fetch(keys("a"))).values()
    assert isinstance(value, SecretBytes)
    assert len(value) == 5_000_000


@pytest.mark.parametrize(
    ("region", "hint"),
    [
        pytest.param("eu-wset-1", "did you mean eu-west-1", id="a slip of the pen"),
        pytest.param("nowhere", "this build knows no region nowhere", id="nothing like it"),
    ],
)
async def test_a_region_that_does_not_exist(
    opened: Open, monkeypatch: pytest.MonkeyPatch, region: str, hint: str
) -> None:
    monkeypatch.setenv("AWS_SECRETSMANAGER_ENDPOINT", "http://127.0.0.1:1")
    async with opened(region=region) as client:
        with pytest.raises(Unavailable, match="could not be reached") as caught:
            await client.fetch(keys("a"))
    assert hint in caught.value.hint


async def test_fips(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_SECRETSMANAGER_ENDPOINT")
    monkeypatch.setenv("AWS_USE_FIPS_ENDPOINT", "true")
    async with opened(region="us-east-1") as client:
        address: str = client._api._client.meta.endpoint_url  # type: ignore[attr-defined]

    assert address == "https://secretsmanager-fips.us-east-1.amazonaws.com"
