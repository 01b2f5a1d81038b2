"""Logins by a proof of the daemon's identity at a cloud: which servers may have it."""

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from syncret.config.fields import Json
from syncret.config.settings import OwnIdentity, OwnReceiver
from syncret.providers.akeyless import PROVIDER
from syncret.providers.errors import Denied, SyncError, Unavailable
from syncret.providers.kit.ambient.rules import Verdict
from tests.support.foreign import CANARY, Recorder, machine
from tests.support.opened import door_of
from tests.support.servers.akeyless.server import Akeyless
from tests.support.specs import spec_of
from tests.unit.providers.akeyless.stores import opened

KINDS = ("aws_iam", "azure_ad", "gcp")


@pytest.fixture
async def own(aws: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Recorder]:
    """The daemon runs on a machine of every cloud at once."""
    for name in ("AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE", "IDENTITY_ENDPOINT"):
        aws.delenv(name, raising=False)
    async with machine() as recorder:
        aws.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{recorder.url}/v1/credentials")
        aws.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", recorder.url)
        aws.setenv("GCE_METADATA_HOST", recorder.url.partition("://")[2])
        yield recorder


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parameter", [None, "p"])
async def test_strict_rules_refuse_before_anything_is_fetched(
    server: Akeyless, own: Recorder, kind: str, parameter: str | None
) -> None:
    with pytest.raises(Denied, match="must not be sent to") as caught:
        async with opened(server, kind, parameter, door=door_of(OwnIdentity(), strict=True)):
            pass

    assert f"ownIdentity.receivers.akeyless: [{server.url}]" in caught.value.hint
    assert own.received == []
    assert not any("/auth" in call for call in server.calls)
    assert server.logins == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_that_is_written_down_gets_it(server: Akeyless, own: Recorder, kind: str) -> None:
    """Open rules log it once for each server; of a server that is written down there is nothing to log."""
    written = OwnIdentity(receivers={"akeyless": (OwnReceiver(url=server.url, stores="all"),)})
    logged: list[Verdict] = []
    for strict in (True, False):
        door = door_of(
            written if strict else OwnIdentity(),
            strict=strict,
            on_unlisted=lambda _store, verdict: logged.append(verdict),
        )
        own.received.clear()
        with suppress(Denied):  # no method knows it
            async with opened(server, kind, door=door):
                pass
        assert own.received
        assert [verdict.server for verdict in logged] == ([] if strict else [server.url])


async def test_keys_of_aws_may_be_kept_to_cluster_stores(server: Akeyless, own: Recorder) -> None:
    with pytest.raises(Denied, match="only cluster-scoped stores"):
        async with opened(server, "aws_iam", door=door_of(OwnIdentity(cluster_only=("aws",)))):
            pass
    assert own.received == []


@pytest.mark.parametrize(
    ("spec_of_auth", "expected"),
    [
        pytest.param({}, True, id="neither parameter nor account"),
        pytest.param({"accessTypeParam": {"name": "login", "key": "p"}}, False, id="perhaps a key"),
    ],
)
def test_what_is_known_before_the_type_is_read(
    spec_of_auth: dict[str, Json],
    expected: bool,  # noqa: FBT001  # a column of the table
) -> None:
    ref = {"accessID": {"name": "login", "key": "id"}, "accessType": {"name": "login", "key": "t"}}
    auth = {"secretRef": {**ref, **spec_of_auth}}
    found = list(PROVIDER.receivers(spec_of(PROVIDER, {"akeylessGWApiURL": "", "authSecretRef": auth})))
    assert [each.url for each in found] == (["https://api.akeyless.io"] if expected else [])
    with_account = {**auth, "serviceAccountRef": {"name": "app"}}
    assert not [
        *PROVIDER.receivers(spec_of(PROVIDER, {"akeylessGWApiURL": "", "authSecretRef": with_account}))
    ]


@pytest.mark.parametrize("kind", KINDS)
async def test_no_error_shows_what_the_machine_gives(server: Akeyless, own: Recorder, kind: str) -> None:
    with pytest.raises(SyncError) as caught:
        async with opened(server, kind):
            pass
    assert own.received
    assert CANARY not in f"{caught.value!r} {caught.value.hint} {caught.value.__context__!r}"


@pytest.mark.parametrize(("kind", "variable"), [("azure_ad", "AZURE_POD_IDENTITY_AUTHORITY_HOST")])
async def test_a_machine_that_is_nowhere(
    server: Akeyless, own: Recorder, monkeypatch: pytest.MonkeyPatch, kind: str, variable: str
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:1")
    with pytest.raises(Unavailable) as caught:
        async with opened(server, kind):
            pass
    assert "authSecretRef.serviceAccountRef" in caught.value.hint
    assert own.received == []
