"""What only Secrets Manager does: batches and what is refused in them, options of a push, deletion."""

import json

import pytest

from syncret.providers.aws.spec import SecretsManagerSpec
from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.pushes import RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes
from syncret.providers.work import Work
from tests.support.opened import Given
from tests.support.servers.aws import Gateway
from tests.unit.providers.aws.support import Open, found_by, keys, push, secrets

pytestmark = pytest.mark.slow


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
                ask(payload, RemoteRef("bin", "user"), Work())
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
