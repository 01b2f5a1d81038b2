"""Bad answers, large ones, and regions that do not exist."""

import gzip
import json
from typing import Any

import pytest
from aiohttp import web
from msgspec.structs import replace

from syncret.providers.aws import open_aws, sdk
from syncret.providers.aws.spec import AwsSpec
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.kit.http import bodies
from syncret.providers.network import Egress, Network
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes
from tests.support.opened import Given, context
from tests.support.served import all_to, served
from tests.support.servers.aws import REGION, Call, Fault, Gateway
from tests.unit.providers.aws.conftest import AUTH, Service
from tests.unit.providers.aws.support import Open, found_by, keys

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("header", "after"),
    [
        pytest.param("7", 7.0, id="seconds"),
        pytest.param("Fri, 13 Feb 1970 23:31:35 GMT", 0.0, id="a date"),
        pytest.param("1e999", None, id="no number"),
        pytest.param("9" * 400, 86400.0, id="for ever"),
    ],
)
async def test_retry_after_is_passed_on(
    gate: Gateway, opened: Open, header: str, after: float | None
) -> None:
    gate.fault = Fault(429, "SomethingElse", "canary", {"Retry-After": header})
    async with opened() as client:
        with pytest.raises(Throttled) as caught:
            await client.fetch(keys("a", "b"))
    assert caught.value.retry_after == after
    assert len(gate.calls) == 1, "the SDK tries nothing again"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_servers_that_may_not_be_reached(
    given: Given, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    asked: list[web.Request] = []

    async def note(request: web.Request) -> web.Response:
        asked.append(request)
        return web.Response()

    no_loopback = replace(context(given), network=Network(egress=Egress(deny=("loopback",))))
    async with served(all_to(note)) as address:
        monkeypatch.setenv("AWS_SECRETSMANAGER_ENDPOINT", address.replace("127.0.0.1", host))
        async with open_aws(
            AwsSpec(service="SecretsManager", region=REGION, auth=AUTH), no_loopback
        ) as client:
            [answer] = (await client.fetch(keys("a"))).values()
    assert isinstance(answer, Denied)
    assert "may not be reached: egress.deny has loopback" in str(answer)
    assert asked == []


@pytest.mark.parametrize("service", ["SecretsManager", "ParameterStore"])
async def test_a_find_that_says_nothing_does_not_mean_everything(
    gate: Gateway, opened: Open, service: str
) -> None:
    async with opened(service) as client:
        with pytest.raises(Malformed, match="unexpected find operator") as caught:
            await found_by(client, FindQuery())
    assert caught.value.hint
    assert not gate.calls


async def test_empty_values_are_values(gate: Gateway, opened: Open) -> None:
    async def secrets(_call: Call) -> dict[str, Any]:
        return {"SecretValues": [{"Name": "a", "SecretString": ""}, {"Name": "b", "SecretBinary": ""}]}

    async def parameters(_call: Call) -> dict[str, Any]:
        return {"Parameters": [{"Name": "a", "Value": ""}, {"Name": "b", "Value": ""}]}

    gate.replies |= {"BatchGetSecretValue": secrets, "GetParameters": parameters}
    for service in ("SecretsManager", "ParameterStore"):
        async with opened(service) as client:
            assert list((await client.fetch(keys("a", "b"))).values()) == [SecretBytes(b"")] * 2


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        pytest.param(Fault(500, "InternalServiceError"), Unavailable, id="500"),
        pytest.param(Fault(503, "canary: <html>"), Unavailable, id="503 of a proxy"),
        pytest.param(Fault(400, "canary: text"), Malformed, id="a code that is none"),
        pytest.param(Fault(400, "DecryptionFailure"), Malformed, id="a key that cannot be used"),
        pytest.param(Fault(400, "TooManyUpdates"), Unavailable, id="another write is under way"),
        pytest.param(Fault(400, "ParameterAlreadyExists"), Unavailable, id="another was faster"),
        pytest.param(Fault(400, "ResourceExistsException"), Unavailable, id="another made it meanwhile"),
        pytest.param(Fault(400, "RequestInProgressException"), Unavailable, id="not issued yet"),
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


@pytest.mark.parametrize(
    ("service", "answer"),
    [
        pytest.param("ParameterStore", {"Parameter": ["canary"]}, id="a list for an object"),
        pytest.param(
            "ParameterStore", {"Parameter": {"Name": "a", "Value": ["canary"]}}, id="a list for a text"
        ),
        pytest.param("ParameterStore", {"Parameter": {"Name": "a"}}, id="no value"),
        pytest.param("SecretsManager", {"Name": "a", "SecretString": 5}, id="a number for a text"),
        pytest.param("SecretsManager", {"Name": "a", "SecretString": "canary\ud800"}, id="half a character"),
    ],
)
async def test_other_types_than_those_of_the_api(
    gate: Gateway, opened: Open, service: str, answer: dict[str, Any]
) -> None:
    async def wrong(_call: Call) -> dict[str, Any]:
        return answer

    gate.replies |= {"GetSecretValue": wrong, "GetParameter": wrong}
    async with opened(service) as client:
        [found] = (await client.fetch(keys("a"))).values()
    assert isinstance(found, Malformed)
    assert "canary" not in f"{found} {found.hint}"


async def test_a_value_of_five_megabytes(gate: Gateway, opened: Open) -> None:
    async def large(_call: Call) -> dict[str, Any]:
        return {"Name": "a", "SecretString": "x" * 5_000_000}

    gate.replies["GetSecretValue"] = large
    async with opened() as client:
        [value] = (await client.fetch(keys("a"))).values()
    assert isinstance(value, SecretBytes)
    assert len(value) == 5_000_000


@pytest.mark.parametrize("declared", [pytest.param(True, id="declared"), pytest.param(False, id="chunked")])
async def test_an_answer_without_an_end(
    opened: Open, monkeypatch: pytest.MonkeyPatch, *, declared: bool
) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "209715200"} if declared else {})
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65536)

    async with served(all_to(handle)) as address:
        monkeypatch.setenv("AWS_SECRETSMANAGER_ENDPOINT", address)
        async with opened() as client:
            [found] = (await client.fetch(keys("a"))).values()

    assert isinstance(found, Malformed)
    assert "larger than 8388608 bytes" in found.message


@pytest.mark.parametrize("service", ["SecretsManager", "ParameterStore"])
async def test_an_answer_that_is_compressed(
    opened: Open, monkeypatch: pytest.MonkeyPatch, service: Service
) -> None:
    """The SDK asks for none, and would take it for the answer itself."""
    values = [{"Name": name, "SecretString": "v", "Value": "v"} for name in ("a", "b")]
    answer = gzip.compress(json.dumps({"SecretValues": values, "Parameters": values}).encode())
    encoding = "gzip"

    async def packed(_request: web.Request) -> web.Response:
        return web.Response(body=answer, headers={"Content-Encoding": encoding})

    async with served(all_to(packed)) as address:
        monkeypatch.setenv("AWS_SECRETSMANAGER_ENDPOINT", address)
        monkeypatch.setenv("AWS_SSM_ENDPOINT", address)
        async with opened(service) as client:
            assert list((await client.fetch(keys("a", "b"))).values()) == [SecretBytes(b"v")] * 2
            encoding = "br"
            refused = list((await client.fetch(keys("a", "b"))).values())
            encoding, answer = "gzip", answer[:-9]
            with pytest.raises(Unavailable, match="the answer is damaged"):
                await client.fetch(keys("a", "b"))

    assert len(refused) == 2
    assert all(
        isinstance(error, Malformed) and "compressed in a way that was not asked for" in error.message
        for error in refused
    )


async def test_answers_that_are_too_large_leave_no_connection_open(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left of one would keep its place in the pool, and the next request would wait for ever."""
    monkeypatch.setattr(sdk, "CONNECTIONS", 1)
    monkeypatch.setattr(bodies, "LARGEST_PARSED", 64 * 1024)

    async def parts(_request: web.Request) -> web.Response:
        return web.Response(body=b'{"a":[' + b"0," * 100_000 + b"0]}")

    async with served(all_to(parts)) as address:
        monkeypatch.setenv("AWS_SECRETSMANAGER_ENDPOINT", address)
        async with opened() as client:
            found = await client.fetch(keys("a", "b", "c"))

    assert all(isinstance(error, Malformed) and "parsed" in error.message for error in found.values())


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
