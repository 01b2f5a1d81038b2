"""A Delivery: what it may say, judged without the host that it is for."""

import pytest

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.config.resources.delivery.delivery import Delivery
from syncret.config.resources.delivery.rules import chosen_keys, places_of
from syncret.config.schema.admission import admit
from tests.unit.config.support import CATALOG, messages

DIRECTORY: Document = {"directory": {"path": "/srv/syncret/tls"}}


def delivery(**spec: Json) -> Document:
    return {
        "apiVersion": "syncret.dev/v1alpha1",
        "kind": "Delivery",
        "metadata": {"name": "web"},
        "spec": {"sources": [{"secret": "tls"}], "to": [DIRECTORY], **spec},
    }


def judged(document: Document) -> list[str]:
    """What is said of a Delivery."""
    return messages(admit(document, CATALOG).problems)


def to(**target: Json) -> Document:
    return delivery(to=[target])


NGINX = delivery(
    sources=[{"secret": "tls", "keys": {"tls.crt": "server.pem", "tls.key": "server.key"}}],
    to=[{"directory": {"path": "/srv/syncret/tls", "mode": "0400"}}],
    check={"unit": "nginx-check.service"},
    reload={"unit": "nginx.service"},
    healthy={"tls": {"address": "127.0.0.1:443", "serverName": "www.example", "certificate": "server.pem"}},
)
POSTGRES = delivery(
    sources=[{"secret": "db", "keys": {"password": "pgpassword", "user": "pguser"}}],
    to=[
        {
            "envFile": {
                "path": "/run/syncret/app/env",
                "format": "systemd",
                "group": "app",
                "mode": "0440",
            }
        }
    ],
    reload={"unit": "app.service", "action": "restart"},
    healthy={"unit": "app.service"},
)
CREDENTIAL = delivery(
    sources=[{"secret": "db"}],
    to=[{"socket": {"units": ["app.service", "worker@*.service"], "names": {"password": "db-password"}}}],
    reload={"unit": "app.service", "action": "restart"},
)
SIDECAR = delivery(
    to=[{"directory": {"path": "/secrets/web", "layout": "links", "mode": "0440"}}],
    reload={"signal": {"signal": "SIGHUP", "process": "/usr/sbin/haproxy"}},
)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(delivery(), id="least"),
        pytest.param(NGINX, id="nginx"),
        pytest.param(POSTGRES, id="postgres"),
        pytest.param(CREDENTIAL, id="credential"),
        pytest.param(SIDECAR, id="sidecar"),
    ],
)
def test_what_is_right_is_accepted(document: Document) -> None:
    result = admit(document, CATALOG)
    assert judged(document) == []
    assert isinstance(result.resource, Delivery)


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        pytest.param("127.0.0.1:443", None, id="loopback"),
        pytest.param("[::1]:443", None, id="loopback of IPv6"),
        pytest.param("localhost:443", None, id="localhost"),
        pytest.param("unix:/run/app.sock", None, id="socket"),
        pytest.param("10.0.0.1:443", "must be on the loopback of this host", id="elsewhere"),
        pytest.param("metadata.internal:80", "must be on the loopback of this host", id="a name"),
        pytest.param("127.0.0.1", "must have a host and a port", id="no port"),
        pytest.param("unix:app.sock", "the path of a socket must be absolute", id="relative"),
    ],
)
def test_only_servers_of_this_host_are_asked(address: str, problem: str | None) -> None:
    tls = delivery(healthy={"tls": {"address": address, "certificate": "server.pem"}})
    assert judged(tls) == ([] if problem is None else [f"spec.healthy.tls.address: {problem}"])


def test_defaults_are_filled_in() -> None:
    stored = admit(NGINX, CATALOG).document
    assert stored is not None
    spec = stored["spec"]
    assert spec["onFailure"] == "rollback"
    assert spec["deletionPolicy"] == "Retain"
    assert spec["debounce"] == {"quiet": "2s", "atMost": "30s"}
    assert (spec["minInterval"], spec["keepOld"]) == ("10s", "10s")
    assert spec["check"] == {"unit": "nginx-check.service", "view": "staged", "timeout": "10s"}
    assert spec["reload"] == {"unit": "nginx.service", "action": "reload", "timeout": "1m30s"}
    assert (spec["healthy"]["within"], spec["healthy"]["stableFor"]) == ("15s", "2s")
    assert spec["to"][0]["directory"] == {"path": "/srv/syncret/tls", "mode": "0400", "layout": "swap"}


def test_a_status_in_a_manifest_is_ignored() -> None:
    stored = admit({**delivery(), "status": {"phase": "Settled"}}, CATALOG).document
    assert stored is not None
    assert "status" not in stored


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param(
            delivery(
                sources=[
                    {"secret": "tls", "keys": {"tls.crt": "server.pem"}},
                    {"secret": "ca", "keys": {"ca.crt": "server.pem"}},
                ]
            ),
            ['spec.sources[1]: "server.pem" already comes from Secret/tls'],
            id="one name from two sources",
        ),
        pytest.param(
            delivery(
                sources=[
                    {"secret": "a", "keys": ["x"], "prefix": "a-"},
                    {"secret": "b", "keys": ["x"], "prefix": "b-"},
                ]
            ),
            [],
            id="prefixes keep them apart",
        ),
        pytest.param(
            delivery(sources=[{"secret": "a", "configMap": "b"}]),
            ["spec.sources[0]: exactly one of the fields in [secret configMap selector] must be set"],
            id="two sources in one",
        ),
        pytest.param(
            delivery(sources=[{"selector": {"matchLabels": {"a": "b"}}, "keys": ["x"]}]),
            ["spec.sources[0].keys: is not for a selector"],
            id="keys of a selector",
        ),
        pytest.param(
            delivery(sources=[{"secret": "a", "keys": "x"}]),
            ["spec.sources[0].keys: must be a list of keys, or a map of keys to names of files"],
            id="keys that are a text",
        ),
        pytest.param(
            delivery(sources=[{"secret": "a", "keys": {"tls.crt": "../x"}}]),
            [
                (
                    'spec.sources[0].keys["tls.crt"]: a key and the name of its file have 1 to 253 letters, '
                    "digits, '-', '_' and '.'"
                )
            ],
            id="a file elsewhere",
        ),
        pytest.param(
            delivery(sources=[{"secret": "a", "keys": [["x"], 5]}]),
            [
                (
                    "spec.sources[0].keys: a key and the name of its file have 1 to 253 letters, digits, "
                    "'-', '_' and '.'"
                )
            ]
            * 2,
            id="keys that are no texts",
        ),
        pytest.param(
            delivery(sources=[{"secret": "a", "keys": []}]), ["spec.sources[0].keys: names no key"], id="none"
        ),
        pytest.param(
            delivery(to=[DIRECTORY, {"file": {"path": "/srv/syncret/tls/x", "key": "x"}}]),
            ["spec.to[1].file.path: is, or is inside, or holds the path of spec.to[0].directory.path"],
            id="one path inside another",
        ),
        pytest.param(
            delivery(to=[DIRECTORY, {"file": {"path": "/srv/syncret/tls-2", "key": "x"}}]), [], id="beside"
        ),
        pytest.param(
            to(directory={"path": "/srv/x", "mode": "0666"}),
            ["spec.to[0].directory.mode: everybody could write to it"],
            id="writable by all",
        ),
        pytest.param(
            to(directory={"path": "/srv/x", "directoryMode": "0777"}),
            ["spec.to[0].directory.directoryMode: everybody could write to it"],
            id="folder writable by all",
        ),
        pytest.param(
            to(file={"path": "/srv/x", "key": "a", "mode": "0444"}),
            ["?spec.to[0].file.mode: everybody on this host can read it"],
            id="readable by all",
        ),
        pytest.param(
            to(file={"path": "/srv/x"}),
            ["spec.to[0].file: exactly one of the fields in [key template] must be set"],
            id="file of nothing",
        ),
        pytest.param(
            to(socket={"units": ["app.service"], "names": {"a": "x" * 74}}),
            [
                (
                    f'spec.to[0].socket: "app.service" and "{"x" * 74}" have 85 bytes together; '
                    "systemd can ask for 84"
                )
            ],
            id="names too long",
        ),
        pytest.param(to(socket={"units": ["app.service"], "names": {"a": "x" * 73}}), [], id="longest names"),
        pytest.param(
            to(socket={"units": ["app.service"], "names": {"a": "x", "b": "x"}}),
            ['spec.to[0].socket.names: two files become "x"'],
            id="one credential twice",
        ),
        pytest.param(
            delivery(to=[{"socket": {"units": ["app.service"], "names": {each: "x"}}} for each in "ab"]),
            ['spec.to[1].socket: "app.service" gets "x" from spec.to[0].socket already'],
            id="one credential from two entries",
        ),
        pytest.param(
            to(socket={"units": ["app.service"], "names": {"a": ".."}}),
            ['spec.to[0].socket.names: ".." is no name of a credential'],
            id="no name of a file",
        ),
        pytest.param(
            delivery(
                to=[{"socket": {"units": ["app@*.service"], "names": {"a": "x"}}}],
                reload={"unit": "app@1.service"},
            ),
            ["?spec.reload.action: systemd reads credentials again only at a restart"],
            id="reloaded with a credential",
        ),
        pytest.param(
            delivery(
                to=[{"systemdCredential": {"names": {"a": "x"}}}],
                reload={"unit": "app.service", "action": "restart"},
            ),
            [],
            id="restarted with a credential",
        ),
        pytest.param(
            to(systemdCredential={"path": "/srv/x", "names": {"a": "a"}, "encrypt": "none"}),
            [
                (
                    "spec.to[0].systemdCredential.path: credentials that are not encrypted go to "
                    "/run/credstore alone"
                )
            ],
            id="plain credential elsewhere",
        ),
        pytest.param(
            delivery(check={"exec": ["nginx", "-t"]}),
            ["spec.check.exec[0]: must be an absolute path"],
            id="relative program",
        ),
        pytest.param(
            delivery(check={"exec": ["/bin/x", "{staged:2}"]}),
            ["spec.check.exec: there is no target 2"],
            id="no such target",
        ),
        pytest.param(
            delivery(check={"exec": ["/bin/x", "{staged}"], "view": "mounted"}),
            ["spec.check.exec: has no use for {staged}"],
            id="staged where it is mounted",
        ),
        pytest.param(
            delivery(reload={"exec": ["/bin/x", "{staged}"]}),
            ["spec.reload.exec: has no use for {staged}"],
            id="staged after the swap",
        ),
        pytest.param(
            delivery(check={"unit": "x.service", "view": "mounted", "user": "a"}),
            ["spec.check.view: is for exec", "spec.check.user: is for exec"],
            id="view of a unit",
        ),
        pytest.param(
            delivery(reload={"http": {"url": "http://127.0.0.1/"}, "action": "restart"}),
            ["spec.reload.action: is for a unit"],
            id="restart of a request",
        ),
        pytest.param(
            delivery(check={"unit": "x.service", "timeout": "6m"}),
            ["spec.check.timeout: must be 1s to 5m"],
            id="long check",
        ),
        pytest.param(
            delivery(debounce={"quiet": "1m", "atMost": "30s"}),
            ["spec.debounce.atMost: must be 1m to 1h"],
            id="quiet for longer than at most",
        ),
        pytest.param(delivery(keepOld="0s"), ["spec.keepOld: must be 1s to 10m"], id="old set gone at once"),
    ],
)
def test_rules(document: Document, expected: list[str]) -> None:
    assert judged(document) == expected


@pytest.mark.parametrize(
    ("path", "why"),
    [
        pytest.param("srv/x", "it is not absolute", id="relative"),
        pytest.param("/", "it is the root of the file system", id="root"),
        pytest.param("/srv/../etc", "it leads through", id="dots"),
        pytest.param("/srv//x", "it leads through", id="two slashes"),
        pytest.param("/srv/x/", "it leads through", id="slash at the end"),
        pytest.param("/proc/1/x", "it belongs to the kernel", id="proc"),
        pytest.param("/dev", "it belongs to the kernel", id="dev"),
    ],
)
def test_places_that_nothing_is_delivered_to(path: str, why: str) -> None:
    (problem,) = admit(to(file={"path": path, "key": "a"}), CATALOG).problems
    assert (problem.path, problem.message) == ("spec.to[0].file.path", "not a place to deliver to")
    assert problem.hint.startswith(why)


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"to": []}, id="no target"),
        pytest.param({"sources": []}, id="no source"),
        pytest.param({"to": [DIRECTORY] * 17}, id="17 targets"),
        pytest.param({"keepOld": "-5s"}, id="negative time"),
        pytest.param({"keepOld": "soon"}, id="no time"),
        pytest.param({"reload": {"unit": "nginx"}}, id="unit without its type"),
        pytest.param(
            {"reload": {"signal": {"signal": "SIGKILL", "process": "/bin/x"}}}, id="a deadly signal"
        ),
        pytest.param({"to": [{"envFile": {"path": "/srv/e", "names": {"a": "B-C"}}}]}, id="no variable"),
        pytest.param({"to": [{"directory": {"path": "/srv/e", "mode": "04755"}}]}, id="set-user-ID"),
    ],
)
def test_what_the_schema_refuses(spec: Document) -> None:
    assert not admit(delivery(**spec), CATALOG).accepted


def test_every_place_is_found_with_its_field() -> None:
    document = delivery(
        to=[
            DIRECTORY,
            {"envFile": {"path": "/run/syncret/env"}},
            {"systemdCredential": {"names": {"a": "one", "b": "two"}}},
            {"systemdCredential": {"names": {"a": "one"}, "encrypt": "none"}},
        ]
    )
    resource = admit(document, CATALOG).resource
    assert isinstance(resource, Delivery)
    assert [place.path for place in places_of(resource.spec)] == [
        "/srv/syncret/tls",
        "/run/syncret/env",
        "/etc/credstore.encrypted/one",
        "/etc/credstore.encrypted/two",
        "/run/credstore/one",
    ]


def test_keys_are_named_by_a_list_or_a_map() -> None:
    resource = admit(
        delivery(sources=[{"secret": "a", "keys": ["x"], "prefix": "p-"}, {"secret": "b"}]), CATALOG
    ).resource
    assert isinstance(resource, Delivery)
    assert [chosen_keys(source) for source in resource.spec.sources] == [{"x": "p-x"}, None]
