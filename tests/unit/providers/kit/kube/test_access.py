"""Kubeconfigs that stand in a Secret: what is read of them, and what is refused."""

import json

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.kit.kube import access


def written(proxy: object = None, **user: object) -> bytes:
    proxied = {} if proxy is None else {"proxy-url": proxy}
    return json.dumps(
        {
            "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": "https://api.example", **proxied}}],
            "users": [{"name": "u", "user": user}],
        }
    ).encode()


def test_the_current_context_is_read() -> None:
    found = access.read_kubeconfig(written(token="t", **{"client-key-data": "a2V5"}))

    assert (found.server, found.tls.key) == ("https://api.example", b"key")
    assert found.token is not None
    assert found.token.raw == b"t"
    assert found.as_whom == {}


@pytest.mark.parametrize(("groups", "sent"), [("devs", "devs"), (5, "5")])
def test_a_group_that_is_no_list(groups: object, sent: str) -> None:
    found = access.read_kubeconfig(written(**{"as": "jane", "as-groups": groups}))

    assert found.as_whom["Impersonate-Group"] == sent


def test_the_rights_of_another_user_count() -> None:
    found = access.read_kubeconfig(written(**{"as": "jane", "as-uid": 7, "as-groups": ["devs"]}))

    assert found.as_whom == {"Impersonate-User": "jane", "Impersonate-Uid": "7", "Impersonate-Group": "devs"}


@pytest.mark.parametrize("text", ["canary%", "canaryé"])
def test_data_that_is_no_base64(text: str) -> None:
    with pytest.raises(Malformed, match="client-key-data is not base64") as caught:
        access.read_kubeconfig(written(**{"client-key-data": text}))
    assert caught.value.hint
    assert caught.value.__context__ is None, "what base64 says may hold the text"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(b"[1]", "not a YAML mapping", id="no mapping"),
        pytest.param(b"", "not a YAML mapping", id="nothing"),
        pytest.param(b"current-context: y", "no context", id="no context"),
        pytest.param(b"contexts: 5", "no context", id="contexts that are no list"),
        pytest.param(written(tokenFile="/etc/passwd"), "tokenFile: it names a file", id="a file"),
        pytest.param(written(exec="id"), "exec: it would run a program", id="a program"),
        pytest.param(written(proxy="http://proxy:3128"), "proxy-url: remove it", id="a proxy"),
        pytest.param(
            written(**{"as": "jane", "as-groups": ["a", "b"]}), "several as-groups", id="several groups"
        ),
        pytest.param(
            written(**{"as": "jane", "as-user-extra": {"a": ["b"]}}),
            "as-user-extra",
            id="what says more of a user",
        ),
        pytest.param(written(**{"as-groups": ["a"]}), "as-groups without as", id="groups of nobody"),
        pytest.param(written(**{"as-uid": "7"}), "as-uid without as", id="a UID of nobody"),
        pytest.param(
            written(**{"as-user-extra": {"a": ["b"]}}), "as-user-extra without as", id="more of nobody"
        ),
    ],
)
def test_what_is_refused(text: bytes, expected: str) -> None:
    with pytest.raises(Malformed, match=expected) as caught:
        access.read_kubeconfig(text)
    assert caught.value.hint
