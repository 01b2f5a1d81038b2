"""A value planted in every place that holds one is shown nowhere: not logged, not answered, not kept."""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import pytest

from tests.real.e2e.manifests import external, replaced, written
from tests.real.e2e.process import TIMEOUT, Daemon, daemon, files, free_port, syncret
from tests.support.canary import CANARY, ENCODED, NEEDLE, leaks, seen

pytestmark = pytest.mark.slow

# ------------------------------------------------------------------------------------------ what is planted
STORE = """apiVersion: external-secrets.io/v1
kind: SecretStore
metadata:
  name: fake
  annotations: {kubectl.kubernetes.io/last-applied-configuration: 'CANARY'}
spec:
  provider:
    fake:
      data:
        - {key: plain, value: 'CANARY'}
        - {key: object, value: '{"k": "CANARY", "n": {"m": "CANARY"}}'}
        - {key: broken, value: '{"k": "CANARY"'}
        - {key: list, value: '["CANARY"]'}
        - {key: changing, value: 'CANARY first'}
        - {key: encoded, value: 'BASE64'}
"""
GIVEN = """apiVersion: v1
kind: Secret
metadata: {name: given}
stringData: {text: 'CANARY'}
data: {binary: 'BASE64'}
---
apiVersion: generators.external-secrets.io/v1alpha1
kind: Fake
metadata: {name: drawn}
spec: {data: {drawn: 'CANARY'}}
---
apiVersion: generators.external-secrets.io/v1alpha1
kind: ClusterGenerator
metadata: {name: drawn}
spec: {kind: Fake, generator: {fakeSpec: {data: {drawn: 'CANARY'}}}}
"""
PUSH = """apiVersion: external-secrets.io/v1alpha1
kind: PushSecret
metadata: {name: NAME}
spec:
  refreshInterval: 1h
  secretStoreRefs: [{name: fake}]
  selector: {secret: {name: given}}
  data: [{match: {secretKey: text, remoteRef: {REMOTE}}}]
"""


def planted(text: str) -> str:
    return text.replace("CANARY", CANARY).replace("BASE64", ENCODED)


def taking(name: str, take: str, target: str = "{}") -> str:
    """An ExternalSecret with one entry of `data` or `dataFrom`."""
    head = external(name, target=target).replace("  data: []\n", "")
    return f"{head}  {take}\n"


def push(name: str, remote: str) -> str:
    return PUSH.replace("NAME", name).replace("REMOTE", remote)


def templated(name: str, text: str) -> str:
    """An ExternalSecret whose template has this text for one key."""
    return taking(
        name, "data: [{secretKey: k, remoteRef: {key: plain}}]", f"{{template: {{data: {{a: '{text}'}}}}}}"
    )


TEMPLATES: Final = (
    "{{ fail .k }}",
    "{{ .k.nothing }}",
    "{{ index .k .k }}",
    "{{ template .k }}",
    "{{ semver .k }}",
    "{{ mustFromJson .k }}",
    "{{ mustDateModify .k now }}",
    '{{ mustRegexFind (printf "(%s" .k) .k }}',
    "{{ decryptAES .k .k }}",
    "{{ filterPEM .k .k }}",
    "{{ jwkPublicKeyPem .k }}",
)
DRAWN = "dataFrom: [{sourceRef: {generatorRef: {apiVersion: %s/v1alpha1, kind: %s, name: drawn}}}]"
GENERATORS = "generators.external-secrets.io"
GOOD: Final = {
    "plain": external("plain", "plain"),
    "extract": taking("extract", "dataFrom: [{extract: {key: object}}]"),
    "decoded": taking(
        "decoded", "data: [{secretKey: k, remoteRef: {key: encoded, decodingStrategy: Base64}}]"
    ),
    "drawn": taking("drawn", DRAWN % (GENERATORS, "Fake")),
    "cluster-drawn": taking("cluster-drawn", DRAWN % (GENERATORS, "ClusterGenerator")),
    "templated": templated("templated", "{{ .k }}"),
    "immutable": external("immutable", "changing", target="{immutable: true}"),
    "pushed": push("pushed", "remoteKey: pushed"),
    "pushed-property": push("pushed-property", "remoteKey: pushed-too, property: p"),
}
FAILING: Final = {
    "undecodable": taking(
        "undecodable", "data: [{secretKey: k, remoteRef: {key: plain, decodingStrategy: Base64}}]"
    ),
    "undecodable-url": taking(
        "undecodable-url", "dataFrom: [{extract: {key: object, decodingStrategy: Base64URL}}]"
    ),
    "bad-json": taking("bad-json", "dataFrom: [{extract: {key: broken}}]"),
    "no-json": taking("no-json", "dataFrom: [{extract: {key: plain}}]"),
    "list": taking("list", "dataFrom: [{extract: {key: list}}]"),
    "property": taking("property", "data: [{secretKey: k, remoteRef: {key: object, property: absent.n}}]"),
    "no-property": taking("no-property", "data: [{secretKey: k, remoteRef: {key: plain, property: k}}]"),
    "rewrite": taking(
        "rewrite", "dataFrom: [{extract: {key: object}, rewrite: [{regexp: {source: '(', target: x}}]}]"
    ),
    "transform": taking(
        "transform", "dataFrom: [{extract: {key: object}, rewrite: [{transform: {template: '{{ .value'}}]}]"
    ),
    "merge": taking(
        "merge", "dataFrom: [{extract: {key: object}, rewrite: [{merge: {conflictPolicy: Error}}]}]"
    ),
    **{f"template-{number}": templated(f"template-{number}", text) for number, text in enumerate(TEMPLATES)},
    "push-seeded": push("push-seeded", "remoteKey: plain"),
    "push-no-object": push("push-no-object", "remoteKey: pushed, property: p"),
}
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: bad}\n"
BAD_STORE = "apiVersion: external-secrets.io/v1\nkind: SecretStore\nmetadata: {name: bad}\n"
INVALID: Final = {
    "data-no-base64": SECRET + "data: {k: 'CANARY'}\n",
    "data-text": SECRET + "data: 'CANARY'\n",
    "data-list": SECRET + "stringData: ['CANARY']\n",
    "data-nested": SECRET + "stringData: {k: {k: 'CANARY'}}\n",
    "misspelt": SECRET + "stringdata: {k: 'CANARY'}\n",
    "type": SECRET + "immutable: 'CANARY'\n",
    "alias": SECRET + "stringData: {k: *CANARY }\n",
    "tag": SECRET + "stringData: {k: !CANARY }\n",
    "tag-text": SECRET + "stringData: {k: !!int 'CANARY'}\n",
    "percent": SECRET + "stringData: {k: %CANARY}\n",
    "unclosed": SECRET + "stringData: {k: 'CANARY}\n",
    "escape": SECRET + 'stringData: {k: "\\yCANARY"}\n',
    "directive": "%CANARY x\n---\n" + SECRET,
    "fake-list": BAD_STORE + "spec: {provider: {fake: {data: [{key: k, value: ['CANARY']}]}}}\n",
    "fake-mapping": BAD_STORE + "spec: {provider: {fake: {data: {k: 'CANARY'}}}}\n",
    "fake-text": BAD_STORE + "spec: {provider: {fake: 'CANARY'}}\n",
    "fake-misspelt": BAD_STORE + "spec: {provider: {fake: {data: [{key: k, valeu: 'CANARY'}]}}}\n",
    "fake-texts": BAD_STORE + "spec: {provider: {fake: {data: ['CANARY']}}}\n",
    "fake-outside": BAD_STORE + "spec: {fake: {data: [{key: k, value: 'CANARY'}]}}\n",
    "fake-versioned": BAD_STORE
    + "spec: {provider: {fake: {data: [{key: k, version: 1, value: 'CANARY'}]}}}\n",
    "generator": (
        f"apiVersion: {GENERATORS}/v1alpha1\nkind: Fake\nmetadata: {{name: bad}}\n"
        "spec: {data: {k: ['CANARY']}, dta: {k: 'CANARY'}}\n"
    ),
    "generator-list": (
        f"apiVersion: {GENERATORS}/v1alpha1\nkind: Fake\nmetadata: {{name: bad}}\n"
        "spec: {data: ['CANARY']}\n"
    ),
    "foreign": "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: thing}\nspec: {k: 'CANARY'}\n",
    "unknown": f"apiVersion: {GENERATORS}/v1alpha1\nkind: Fak\nmetadata: {{name: bad}}\nspec: 'CANARY'\n",
    "no-kind": "stringData: {k: 'CANARY'}\n",
    "json-text": "'CANARY'\n",
}
EVERYTHING: Final = {"store": STORE, "given": GIVEN, **GOOD, **FAILING, **INVALID}


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    return written(tmp_path / "manifests", **{name: planted(text) for name, text in EVERYTHING.items()})


def change(manifests: Path) -> None:
    """Another value for a Secret that is immutable, and an ExternalSecret that no longer says so."""
    replaced(manifests / "store.yaml", planted(STORE.replace("first", "second")))
    replaced(manifests / "immutable.yaml", GOOD["immutable"].replace("immutable: true", ""))


def bytes_of(folder: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """The files of a state: its own, and what its database keeps beside it."""
    found = sorted(folder.glob(f"{name}*"))
    assert folder / name in found
    return ((path.name, path.read_bytes()) for path in found)


def delivered(folder: Path) -> None:
    """The outputs hold the canary: so it was there to be shown."""
    out = files(folder)
    for file in (
        "plain/plain",
        "extract/k",
        "decoded/k",
        "templated/a",
        "drawn/drawn",
        "cluster-drawn/drawn",
    ):
        assert out[f"default/{file}"] == CANARY, file
    assert not {name.split("/")[1] for name in out} & FAILING.keys()


# ------------------------------------------------------------------------------------------------- commands
def test_the_forms_are_found() -> None:
    for before in range(5):
        wrapped = b"x" * before + CANARY.encode() + b"yz"
        assert "plain" in seen(wrapped)
        assert "hex" in seen(wrapped.hex())
        assert any(name.startswith("base64") for name in seen(b64encode(wrapped)))
        assert any(name.startswith("url-safe") for name in seen(urlsafe_b64encode(wrapped)))
    assert "/" in ENCODED


@pytest.mark.parametrize("arguments", [[], ["-o", "json"], ["-o", "yaml"]], ids=["table", "json", "yaml"])
def test_sync(tmp_path: Path, manifests: Path, arguments: list[str]) -> None:
    places: list[str | Path] = ["-f", manifests, "--output-dir", tmp_path / "out", "--state"]
    places += [tmp_path / "state.db", "--set", "logLevel=debug"]
    found: list[str] = []
    for turn in ("first", "second"):
        done = syncret("sync", *places, *arguments)
        assert done.returncode == 2, done.stderr
        found += leaks("stdout", done.stdout) + leaks("stderr", done.stderr)
        delivered(tmp_path / "out")
        for file, content in bytes_of(tmp_path, "state.db"):
            found += leaks(f"{file} after the {turn} pass", content)
        change(manifests)
    assert not found, "\n".join(found)
    if arguments:
        shown = syncret("sync", *places, *arguments, "--show-values").stdout
        assert {"plain", "base64 after 0 bytes"} <= set(seen(shown))


@pytest.mark.parametrize("arguments", [[], ["-o", "json"]], ids=["text", "json"])
def test_plan(tmp_path: Path, manifests: Path, arguments: list[str]) -> None:
    places: list[str | Path] = ["-f", manifests, "--output-dir", tmp_path / "out", "--state"]
    places += [tmp_path / "state.db", "--set", "logLevel=debug"]
    found: list[str] = []
    for _ in range(2):
        done = syncret("plan", *places, *arguments)
        assert done.returncode == 2, done.stderr
        found += leaks("stdout", done.stdout) + leaks("stderr", done.stderr)
        assert syncret("sync", *places).returncode == 2
        change(manifests)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("arguments", [[], ["-o", "json"]], ids=["text", "json"])
def test_validate(manifests: Path, arguments: list[str]) -> None:
    done = syncret("validate", "-f", manifests, *arguments)
    assert done.returncode == 2, done.stderr
    found = leaks("stdout", done.stdout) + leaks("stderr", done.stderr)
    assert not found, "\n".join(found)
    if arguments:
        shown = syncret("validate", "-f", manifests, *arguments, "--show-values").stdout
        assert {"plain", "base64 after 0 bytes"} <= set(seen(shown))


# ------------------------------------------------------------------------------------------------- simulate
BULK = """apiVersion: syncret.dev/v1alpha1
kind: Scenario
metadata: {name: canary}
spec:
  providers:
    SecretStore/default/vault: [{key: k, value: 'CANARY'}]
  steps:
    - apply: OBJECTS
    - patch: [{apiVersion: v1, kind: Secret, namespace: default, name: plain, merge: {immutable: 'CANARY'}}]
      faults:
        - {operation: read, store: SecretStore/default/fake, error: denied}
        - {operation: push, error: denied}
      advance: 2h
    - apply: CHANGED
      advance: 2h
    - delete: [{apiVersion: v1, kind: Secret, namespace: default, name: plain}]
      advance: 1h
"""


def parsed(manifests: Path) -> str:
    """What `validate` read of the manifests, as the objects of a scenario."""
    told = json.loads(syncret("validate", "-f", manifests, "-o", "json", "--show-values").stdout)
    objects = [item["object"] for item in told["items"] if "object" in item and item["kind"]]
    # a simulated cluster shows objects of kinds that syncret does not know as they are
    return json.dumps([each for each in objects if each["kind"] != "Thing"])


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_simulate(tmp_path: Path, manifests: Path, output: str) -> None:
    objects = parsed(manifests)
    assert seen(objects)
    scenario = tmp_path / "scenario.yaml"
    changed = objects.replace("first", "second")
    scenario.write_text(planted(BULK).replace("OBJECTS", objects).replace("CHANGED", changed))
    done = syncret("simulate", scenario, "-o", output)
    assert done.returncode == 0, done.stderr
    found = leaks("stdout", done.stdout) + leaks("stderr", done.stderr)
    assert not found, "\n".join(found)
    shown = syncret("simulate", scenario, "-o", output, "--show-values").stdout
    assert {"plain", "base64 after 0 bytes"} <= set(seen(shown))


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param("steps: 'CANARY'", id="steps"),
        pytest.param("steps: [{apply: ['CANARY']}]", id="object"),
        pytest.param("providers: {SecretStore/default/v: [{key: k, value: ['CANARY']}]}", id="value"),
        pytest.param("providers: {SecretStore/default/v: [{key: k, valeu: 'CANARY'}]}", id="field"),
        pytest.param("providers: {SecretStore/default/v: {k: 'CANARY'}}", id="entries"),
    ],
)
def test_a_malformed_scenario(tmp_path: Path, wrong: str) -> None:
    scenario = tmp_path / "scenario.yaml"
    head = "apiVersion: syncret.dev/v1alpha1\nkind: Scenario\nmetadata: {name: x}\nspec:\n  "
    scenario.write_text(planted(head + wrong + "\n"))
    done = syncret("simulate", scenario)
    assert done.returncode == 2, done.stderr
    found = leaks("stdout", done.stdout) + leaks("stderr", done.stderr)
    assert not found, "\n".join(found)


# --------------------------------------------------------------------------------------------------- daemon
def answers(process: Daemon, port: int) -> Iterator[tuple[str, str]]:
    """All that can be asked of it."""
    for path in ("/metrics", "/status"):
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=TIMEOUT) as answer:
            yield path, answer.read().decode()
    for output in ("text", "json"):
        yield f"status -o {output}", process.ask("status", "-o", output).stdout
        for name, text in {**GOOD, **FAILING}.items():
            kind = "PushSecret" if "PushSecret" in text else "ExternalSecret"
            explained = process.ask("explain", f"{kind}/{name}", "-o", output)
            yield f"explain {name} -o {output}", explained.stdout + explained.stderr
        yield f"explain fake -o {output}", process.ask("explain", "SecretStore/fake", "-o", output).stdout


@pytest.mark.parametrize("form", ["console", "json"])
def test_the_daemon(tmp_path: Path, manifests: Path, form: str) -> None:
    port = free_port()  # where logs are JSON, the address is not printed
    settings = ["--listen", f"127.0.0.1:{port}", "--set", "statusOnListen=true"]
    settings += ["--set", "logLevel=debug", "--set", f"logFormat={form}"]
    with daemon(tmp_path, manifests, *settings) as process:
        delivered(tmp_path / "out")
        change(manifests)
        process.said("target is immutable")
        found = [leak for place, text in answers(process, port) for leak in leaks(place, text)]
        for file, content in bytes_of(tmp_path, "state.db"):
            found += leaks(f"{file} while it runs", content)
        assert process.stop() == 0
    found += leaks("stdout", process.stdout) + leaks("stderr", process.stderr)
    for file, content in bytes_of(tmp_path, "state.db"):
        found += leaks(f"{file} at the end", content)
    assert "bad-json" in process.stderr, "failures are logged"
    assert not found, "\n".join(found)


# ----------------------------------------------------------------------------------- what a tenant may write
VAULT = (
    f"{{server: 'https://user:{NEEDLE}@vault.invalid:8200', auth: {{kubernetes: {{mountPath: k, role: r}}}}}}"
)
METADATA = f"{{url: 'http://user:{NEEDLE}@169.254.169.254/{NEEDLE}'}}"


def elsewhere(provider: str, spec: str) -> str:
    """A store of its own, and an ExternalSecret that reads it."""
    name = f"elsewhere-{provider}"
    text = BAD_STORE.replace("name: bad", f"name: {name}") + f"spec: {{provider: {{{provider}: {spec}}}}}\n"
    return text + "---\n" + external(name, "plain", store=name)


DOUBLING = "[" + ", ".join(["{regexp: {source: '.+', target: '${0}${0}'}}"] * 40) + "]"
TENANT: Final = {
    "own-identity": elsewhere("vault", VAULT),
    "egress": elsewhere("webhook", METADATA),
    "costly-path": taking(
        "costly-path",
        "data: [{secretKey: k, remoteRef: {key: object, property: '"
        + "|".join(["[@this,@this]"] * 40)
        + "'}}]",
    ),
    "costly-rewrite": taking(
        "costly-rewrite", f"dataFrom: [{{extract: {{key: object}}, rewrite: {DOUBLING}}}]"
    ),
    "costly-template": templated("costly-template", "{{ repeat 1000000000 .k }}"),
    "outside": SECRET.replace("name: bad", "name: bad, namespace: elsewhere") + "stringData: {k: 'CANARY'}\n",
    "waiting": SECRET.replace("name: bad", "name: waiting") + "stringData: {k: 'CANARY'}\n",
}
SAID: Final = (
    "a token of the daemon's own ServiceAccount must not be sent",
    "egress.deny",
    "workMemory",
    "failed rewrite operation",
    "unable to execute template",
    "elsewhere",
    "holds no manifests any more",
)
"""What is told of each of them."""


def test_a_tenant(tmp_path: Path) -> None:
    """The state file is left out: it has literals of a manifest, such as a URL with a password."""
    texts = {"store": STORE, "given": GIVEN, "plain": GOOD["plain"], **TENANT}
    folder = written(tmp_path / "manifests", **{name: planted(text) for name, text in texts.items()})
    settings = ["--set", f"manifests=[{{path: {folder}, namespaces: [default]}}]", "--set", "logLevel=debug"]
    found: list[str] = []
    with daemon(tmp_path, None, *settings) as process:
        replaced(folder / "waiting.yaml", "")
        process.said("holds no manifests any more")
        told = json.dumps(process.status_document()) + process.ask("status").stdout
        for name in TENANT:
            told += process.ask("explain", f"ExternalSecret/{name}").stdout
        for provider in ("vault", "webhook"):
            told += process.ask("explain", f"SecretStore/elsewhere-{provider}").stdout
        found += leaks("status and explain", told) + leaks("/metrics", process.get("/metrics"))
        assert process.stop() == 0
    found += leaks("stdout", process.stdout) + leaks("stderr", process.stderr)
    missing = [text for text in SAID if text not in told + process.stderr]
    assert not missing, told + process.stderr
    assert not found, "\n".join(found)
