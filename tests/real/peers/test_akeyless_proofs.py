"""What Akeyless is sent as a proof: ours, the operator's, and that of the vendor's own package, in one form.

The operator's release 0.20.4 has akeyless-go-cloud-id 0.3.5; the program beside the server has 0.3.8.
"""

import json
import time
from base64 import b64decode
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from syncret.config.fields import Json
from syncret.providers.akeyless import PROVIDER
from syncret.providers.akeyless.connection import open_store
from tests.real.peers.test_go_clients import told
from tests.support.opened import Given, context
from tests.support.servers.akeyless import cloud_methods
from tests.support.servers.akeyless.cloud_methods import AwsIam, AzureAd, CloudMethod, Gcp
from tests.support.servers.akeyless.server import Akeyless
from tests.support.servers.azure.directory import MANAGEMENT
from tests.support.servers.azure.machine import HEADER
from tests.support.servers.azure.server import azure
from tests.support.servers.eso.providers import Outcome, called, program
from tests.support.servers.golang import need_go
from tests.support.servers.google.server import google
from tests.support.servers.rest import running
from tests.support.specs import spec_of

pytestmark = [pytest.mark.slow, pytest.mark.differential]

OBJECT = "9c0f6b7e-1f5d-4c5e-8f55-6d0a3b1f2e77"


class Login(NamedTuple):
    """An auth method, and the parameter, which may be empty; release 0.20.4 wants it to be named."""

    method: CloudMethod
    parameter: str = ""


class Clouds(NamedTuple):
    """A server of Akeyless, whose clouds know the machine that this process runs on."""

    server: Akeyless
    logins: Mapping[str, Login]
    environment: Mapping[str, str]
    """That of programs which reach Azure's metadata server by its fixed address: through a proxy."""

    @property
    def spec(self) -> Json:
        """A store, whose login is in the Secret."""
        fields = {"accessID": "id", "accessType": "type", "accessTypeParam": "parameter"}
        selected = {field: {"name": "login", "key": key} for field, key in fields.items()}
        return {"akeylessGWApiURL": self.server.url, "authSecretRef": {"secretRef": selected}}

    def secrets(self, name: str) -> dict[str, Mapping[str, bytes]]:
        login = self.logins[name]
        values = {"id": "p-2", "type": login.method.kind, "parameter": login.parameter}
        self.server.clouds["p-2"] = login.method
        return {"login": {key: value.encode() for key, value in values.items()}}

    async def ours(self, name: str) -> bytes:
        """The proof that we send, and that the server accepts."""
        given = context(Given(secrets=self.secrets(name)), now=time.time)
        async with open_store(spec_of(PROVIDER, self.spec), given):
            return self.last()

    def last(self) -> bytes:
        return b64decode(self.server.logins[-1]["cloud-id"], validate=True)


@pytest.fixture
async def clouds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Clouds]:
    """The operator's provider also wants an API server, which nobody calls."""
    need_go()
    cluster = {"name": "none", "cluster": {"server": "http://127.0.0.1:1"}}
    nobody = {"name": "none", "context": {"cluster": "none", "user": ""}}
    kubeconfig = {"clusters": [cluster], "contexts": [nobody], "current-context": "none"}
    (tmp_path / "kubeconfig.json").write_text(json.dumps(kubeconfig))
    for variable in ("AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(variable, raising=False)
    async with running(Akeyless()) as server, azure() as microsoft, google() as their_google:
        their_google.machine.email = email = their_google.identity.account("machine")
        microsoft.machine.own = own = microsoft.directory.register("daemon")
        microsoft.machine.objects[OBJECT] = assigned = microsoft.directory.register("wanted")
        for variable, value in {
            "AWS_ACCESS_KEY_ID": "AKIA1",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_SESSION_TOKEN": "session",
            "AWS_REGION": "eu-west-1",
            "KUBECONFIG": str(tmp_path / "kubeconfig.json"),
            "GCE_METADATA_HOST": their_google.host,
            "IDENTITY_ENDPOINT": f"{microsoft.url}/msi/token",
            "IDENTITY_HEADER": HEADER,
        }.items():
            monkeypatch.setenv(variable, value)
        logins = {
            "aws": Login(AwsIam(time.time, {"AKIA1": "secret"}, {"AKIA1": "session"})),
            "azure": Login(AzureAd(microsoft.directory, own.client_id)),
            "azure by object ID": Login(AzureAd(microsoft.directory, assigned.client_id), OBJECT),
            "google": Login(Gcp(time.time, email)),
            "google for an audience": Login(Gcp(time.time, email, "mine.example"), "mine.example"),
        }
        environment = {"HOME": "/nonexistent", "HTTP_PROXY": microsoft.url, "OBJECT_ID": OBJECT}
        yield Clouds(server, logins, environment)


def signed_request(proof: bytes) -> tuple[Mapping[str, str], Mapping[str, list[str]]]:
    """The request within a proof of AWS, and its headers."""
    document: dict[str, str] = json.loads(proof)
    headers: dict[str, list[str]] = json.loads(b64decode(document.pop("sts_request_headers")))
    return document, headers


async def test_the_vendors_package_and_ours(clouds: Clouds, monkeypatch: pytest.MonkeyPatch) -> None:
    """In China it signs for the region, as we do; elsewhere, unlike 0.3.7 and before, too."""
    monkeypatch.setenv("AWS_REGION", "cn-north-1")
    calls = await told(cloud_methods.__file__, "akeyless", clouds.environment)
    theirs = [b64decode(call["answer"], validate=True) for call in calls]
    for login, proof in zip(clouds.logins.values(), theirs, strict=True):
        assert login.method.refusal(proof) == ""
    sent = [await clouds.ours(name) for name in clouds.logins]

    for name, audience in (("azure", MANAGEMENT), ("azure by object ID", f"{MANAGEMENT}/")):
        method = clouds.logins[name].method
        assert isinstance(method, AzureAd)
        assert method.audiences == [audience] * 2
    (request, headers), (our_request, our_headers) = map(signed_request, (theirs[0], sent[0]))
    assert our_request == request
    assert our_headers.keys() == headers.keys()


async def test_the_operators_provider_and_ours(clouds: Clouds) -> None:
    clouds.server.add("/a", "one")
    there = program()
    provider, call = {"akeyless": clouds.spec}, {"get": {"key": "/a"}}
    for name, login in clouds.logins.items():
        found = await called(there, provider, clouds.secrets(name), [call], clouds.environment)
        assert found == [Outcome(value=b"one")], name
        theirs = clouds.last()
        ours = await clouds.ours(name)
        if isinstance(login.method, AwsIam):
            (request, headers), (our_request, our_headers) = map(signed_request, (theirs, ours))
            assert our_request == request
            assert headers.keys() - our_headers.keys() == {"Content-Length", "User-Agent"}
            assert our_headers.keys() <= headers.keys()
    assert clouds.server.refusals == []
