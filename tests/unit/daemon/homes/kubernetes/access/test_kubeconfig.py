"""The daemon's own kubeconfig: files, contexts, certificates, tokens and programs."""

import json
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from syncret.config.meta import Document
from syncret.daemon.homes.contract import HomeUnusable
from syncret.daemon.homes.kubernetes.access.kubeconfig import access, kubeconfig_paths
from syncret.daemon.homes.kubernetes.access.logins import pair_of
from syncret.daemon.homes.kubernetes.opening import own_access
from syncret.providers.errors import Denied
from syncret.providers.kit.http import Answer
from syncret.providers.kit.kube.client import Login


def config(user: Document | None = None, cluster: Document | None = None, **rest: object) -> Document:
    return {
        "current-context": "one",
        "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://k:6443", **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        **rest,
    }


def written(path: Path, document: object) -> str:
    path.write_text(yaml.safe_dump(document))
    return str(path)


class Server:
    """Knows these tokens."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = set(tokens)
        self.seen: list[str] = []

    async def __call__(self, headers: Mapping[str, str]) -> Answer:
        token = headers.get("Authorization", "").removeprefix("Bearer ")
        self.seen.append(token)
        return Answer("asking", 200 if token in self.tokens else 401, {}, b"")


async def asked(login: Login, server: Server) -> int:
    return (await login.use(server)).status


async def test_the_current_context_says_where_and_who(tmp_path: Path) -> None:
    path = written(tmp_path / "config", config({"token": "t"}))
    found = access(path, "", {})
    assert (found.server, found.namespace, found.tls.verify) == ("https://k:6443", "shop", True)
    assert await asked(found.login, Server("t")) == 200


async def test_a_context_may_be_chosen(tmp_path: Path) -> None:
    other = {"name": "two", "context": {"cluster": "c", "user": "v"}}
    document = config({"token": "t"})
    document["contexts"].append(other)
    document["users"].append({"name": "v", "user": {"token": "w"}})
    found = access(written(tmp_path / "config", document), "two", {})
    assert await asked(found.login, Server("w")) == 200


def test_of_several_files_the_first_that_has_a_name_counts(tmp_path: Path) -> None:
    first = written(tmp_path / "a", {"clusters": [{"name": "c", "cluster": {"server": "https://first"}}]})
    second = written(tmp_path / "b", config())
    assert access(f"{first}:{second}", "", {}).server == "https://first"


def test_certificates_are_data_or_files_beside_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(b"the ca")
    (tmp_path / "key").write_bytes(b"the key")
    user = {"client-certificate-data": b64encode(b"a certificate").decode(), "client-key": "key"}
    cluster = {"certificate-authority": "ca.crt", "insecure-skip-tls-verify": True}
    tls = access(written(tmp_path / "config", config(user, cluster)), "", {}).tls
    assert (tls.ca, tls.certificate, tls.key, tls.verify) == (b"the ca", b"a certificate", b"the key", False)


async def test_a_token_file_is_read_again_when_its_token_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("old\n")
    login = access(written(tmp_path / "config", config({"tokenFile": "token"})), "", {}).login
    server = Server("old", "new")
    assert await asked(login, server) == 200
    (tmp_path / "token").write_text("new\n")
    assert await asked(login, server) == 200
    assert server.seen == ["old", "old"], "the file is not read for each request"
    server.tokens.discard("old")
    assert await asked(login, server) == 200
    assert server.seen[2:] == ["old", "new"]
    (tmp_path / "token").unlink()
    server.tokens.clear()
    with pytest.raises(Denied, match="token file"):
        await asked(login, server)


def test_of_several_files_those_that_are_missing_are_passed_over(tmp_path: Path) -> None:
    there = written(tmp_path / "there", config())
    assert access(f"{tmp_path}/gone:{there}", "", {}).server == "https://k:6443"
    with pytest.raises(HomeUnusable, match="No such file"):
        access(f"{tmp_path}/gone:{tmp_path}/lost", "", {})


def test_a_server_may_have_another_name_and_a_proxy(tmp_path: Path) -> None:
    cluster = {"tls-server-name": "api.example", "proxy-url": "http://user:word@proxy:3128"}
    found = access(written(tmp_path / "config", config(cluster=cluster)), "", {})
    assert (found.tls.server_name, found.proxy) == ("api.example", "http://user:word@proxy:3128")


async def test_another_user_is_impersonated(tmp_path: Path) -> None:
    user = {"token": "t", "as": "jane", "as-uid": "7", "as-groups": ["devs"]}
    login = access(written(tmp_path / "config", config(user)), "", {}).login
    seen: list[Mapping[str, str]] = []

    async def call(headers: Mapping[str, str]) -> Answer:
        seen.append(headers)
        return Answer("asking", 200, {}, b"")

    await login.use(call)
    assert seen == [
        {
            "Authorization": "Bearer t",
            "Impersonate-User": "jane",
            "Impersonate-Uid": "7",
            "Impersonate-Group": "devs",
        }
    ]


async def test_a_program_may_give_a_certificate_and_be_told_of_the_cluster(tmp_path: Path) -> None:
    user = program(tmp_path, {"clientCertificateData": "a certificate", "clientKeyData": "its key"})
    user["exec"] |= {"provideClusterInfo": True, "args": ["$KUBERNETES_EXEC_INFO"]}
    script = tmp_path / "login"
    script.write_text(f'#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" > {tmp_path}/told\ncat {tmp_path}/answer\n')
    (tmp_path / "ca.crt").write_bytes(b"the ca")
    settings = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    cluster = {"certificate-authority": "ca.crt", "tls-server-name": "api.example", "extensions": [settings]}
    path = written(tmp_path / "config", config(user, cluster))
    login = access(path, "", {"PATH": "/usr/bin:/bin"}).login
    assert await pair_of(login) == (b"a certificate", b"its key")
    assert "its key" not in repr(await pair_of(login))
    told = json.loads((tmp_path / "told").read_text())
    assert told["spec"]["cluster"] == {
        "server": "https://k:6443",
        "tls-server-name": "api.example",
        "certificate-authority-data": b64encode(b"the ca").decode(),
        "config": {"audience": "x"},
    }
    (tmp_path / "answer").write_text(json.dumps({"status": {"clientCertificateData": "another"}}))
    with pytest.raises(Denied, match="another client certificate"):
        await asked(login, Server())


async def test_in_a_pod_the_account_is_read_from_its_mount(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    (tmp_path / "ca.crt").write_bytes(b"the ca")
    pod = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}
    found = own_access("", "", pod, mount=tmp_path)
    assert (found.server, found.tls.ca) == ("https://[fd00::1]:6443", b"the ca")
    assert await asked(found.login, Server("t")) == 200
    (tmp_path / "ca.crt").unlink()
    with pytest.raises(HomeUnusable, match=r"ca\.crt"):
        own_access("", "", pod, mount=tmp_path)


def test_a_kubeconfig_that_is_named_comes_before_the_pod(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    path = written(tmp_path / "config", config())
    pod = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    assert own_access(path, "", pod, mount=tmp_path).server == "https://k:6443"
    assert own_access("", "one", {**pod, "KUBECONFIG": path}, mount=tmp_path).server == "https://k:6443"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert own_access("", "", {**pod, "KUBECONFIG": path}, mount=empty).server == "https://k:6443"


def program(folder: Path, status: Document, *, code: int = 0) -> Document:
    """An `exec` entry: a program that counts its calls and prints a credential."""
    (folder / "answer").write_text(json.dumps({"kind": "ExecCredential", "status": status}))
    script = folder / "login"
    script.write_text(f'#!/bin/sh\necho "$MODE $1" >> {folder}/calls\ncat {folder}/answer\nexit {code}\n')
    script.chmod(0o700)
    environment = [{"name": "MODE", "value": "quiet"}]
    return {"exec": {"command": "./login", "args": ["get"], "env": environment}}


@pytest.mark.parametrize(
    ("expires", "calls"),
    [
        pytest.param("2999-01-01T00:00:00Z", 1, id="later"),
        pytest.param("2020-01-01T00:00:00Z", 2, id="expired"),
        pytest.param("", 1, id="never"),
    ],
)
async def test_a_program_is_asked_when_its_token_expires(tmp_path: Path, expires: str, calls: int) -> None:
    user = program(tmp_path, {"token": "t", "expirationTimestamp": expires})
    login = access(written(tmp_path / "config", config(user)), "", {"PATH": "/usr/bin:/bin"}).login
    server = Server("t")
    assert [await asked(login, server) for _ in range(2)] == [200, 200]
    assert (tmp_path / "calls").read_text().splitlines() == ["quiet get"] * calls


async def test_a_refused_token_is_asked_for_again(tmp_path: Path) -> None:
    user = program(tmp_path, {"token": "old"})
    login = access(written(tmp_path / "config", config(user)), "", {"PATH": "/usr/bin:/bin"}).login
    server = Server("old")
    assert await asked(login, server) == 200
    program(tmp_path, {"token": "new"})
    server.tokens = {"new"}
    assert await asked(login, server) == 200


@pytest.mark.parametrize(
    ("status", "code", "problem"),
    [
        pytest.param({}, 0, "printed neither a token", id="no token"),
        pytest.param({"token": "secret"}, 3, "ended with 3", id="failed"),
    ],
)
async def test_a_program_that_fails_is_named(
    tmp_path: Path, status: Document, code: int, problem: str
) -> None:
    user = program(tmp_path, status, code=code)
    login = access(written(tmp_path / "config", config(user)), "", {"PATH": "/usr/bin:/bin"}).login
    with pytest.raises(Denied, match=problem) as refusal:
        await asked(login, Server())
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        pytest.param("text", "is no kubeconfig", id="no mapping"),
        pytest.param({"contexts": "x"}, "is no kubeconfig", id="wrong type"),
        pytest.param({}, "no current-context", id="empty"),
        pytest.param(config() | {"current-context": "three"}, "no context 'three'", id="context"),
        pytest.param(config(users=[]), "no user 'u'", id="user"),
        pytest.param(config(cluster={"server": ""}), "has no server", id="server"),
        pytest.param(config(cluster={"certificate-authority": "none"}), "No such file", id="file"),
        pytest.param(config({"client-key-data": "%"}), "not base64", id="data"),
        pytest.param(config({"auth-provider": {"name": "gcp"}}), "no longer has", id="auth provider"),
        pytest.param(config({"exec": {}}), "exec", id="no command"),
        pytest.param(
            config({"exec": {"command": "x", "interactiveMode": "Always"}}), "on a terminal", id="interactive"
        ),
        pytest.param(config({"username": "u", "password": "p"}), "no longer has", id="password"),
        pytest.param(config({"as": "j", "as-groups": ["a", "b"]}), "several as-groups", id="groups"),
        pytest.param(config({"as": "j", "as-user-extra": {"a": ["b"]}}), "as-user-extra", id="extra"),
        pytest.param(config(cluster={"proxy-url": "socks5://p:1"}), "no HTTP proxy", id="socks"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, document: object, problem: str) -> None:
    with pytest.raises(HomeUnusable, match=problem):
        access(written(tmp_path / "config", document), "", {})


def test_where_the_kubeconfig_is() -> None:
    assert kubeconfig_paths("/a", {"KUBECONFIG": "/b"}) == "/a"
    assert kubeconfig_paths("", {"KUBECONFIG": "/b:/c", "HOME": "/h"}) == "/b:/c"
    assert kubeconfig_paths("", {"HOME": "/h"}) == "/h/.kube/config"
