"""Templates that cannot be rendered, through the engine: told with their place, never with a value.

Whatever is wrong with it, the last good Secret stays, and so does what was pushed.
"""

import time

import pytest

from syncret.config.meta import Document
from syncret.daemon.engine.clock import Clock
from tests.unit.daemon.engine.life import (
    PUSH,
    Life,
    X,
    manifest,
    secret,
    secret_ref,
    store,
    wanting,
)

VALUE = "s3cr3t-canary"
NO_UPDATE = ("False", "SecretSyncedError", "could not update secret")
NO_DATA = ("False", "SecretSyncedError", "could not get secret data from provider")
RECURSION = '{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}'
SLOW_EXPRESSION = "^(([a-z])+.)+[A-Z]([a-z])+$"

BAD = [
    pytest.param("{{ .a }}\n{{ nothing .a }}", "line 2, column 4", id="unknown function"),
    pytest.param("{{ .a }} {{ .gone }}", "line 1, column 13", id="missing key"),
    pytest.param("{{ repeat .a 3 }}", "function repeat", id="wrong kind of argument"),
    pytest.param("{{ .a", "line 1", id="does not parse"),
    pytest.param(RECURSION, "line 1", id="endless recursion"),
    pytest.param("{{ .a }}" + "x" * 10_000_000, "longer than 1000000", id="10 MB of template"),
    pytest.param(
        '{{ range until 1000 }}{{ repeat 20000 "x" }}{{ end }}', "templateMemory", id="10 MB of output"
    ),
    pytest.param("{{ range until 1000000 }}{{ end }}", "templateMemory", id="work without end"),
    pytest.param(
        '{{ range until 1000 }}{{ range until 1000 }}{{ add 1 2 | printf "%d" | quote }}{{ end }}{{ end }}',
        "templateTime",
        id="loops in loops",
    ),
    pytest.param(
        '{{ range until 11 }}{{ genPrivateKey "ed25519" }}{{ end }}', "function genPrivateKey", id="many keys"
    ),
    pytest.param('{{ mustRegexMatch "(" .a }}', "function mustRegexMatch", id="bad expression"),
    pytest.param("{{ pemToPkcs12 .a .a }}", "function pemToPkcs12", id="invalid PEM"),
    pytest.param("{{ jwkPublicKeyPem .a }}", "function jwkPublicKeyPem", id="invalid key"),
    pytest.param("{{ mustFromJson .yaml }}", "function mustFromJson", id="invalid JSON"),
    pytest.param(
        '{{ $c := genSelfSignedCert "x" nil nil 1 }}'
        '{{ pemToPkcs12Pass $c.Cert $c.Key .a | b64dec | pkcs12keyPass "other" }}',
        "function pkcs12keyPass",
        id="wrong password of a PKCS#12 file",
    ),
]


def templated(text: str) -> Document:
    return {"data": {"a": text}}


async def settled(life: Life) -> None:
    """A cluster in which all is well."""
    life.manager.values |= {"k": VALUE, "yaml": f"{VALUE}: ["}
    data = [
        {"secretKey": key, "remoteRef": {"key": remote}} for key, remote in (("a", "k"), ("yaml", "yaml"))
    ]
    await life.apply(
        store(), wanting(data=data, target={"template": templated("good {{ .a }}")}, refreshInterval="1h")
    )
    assert await life.data("x") == {"a": f"good {VALUE}"}
    assert (await life.ready(X))[0] == "True"


def told(life: Life) -> str:
    """The text of the last warning. No warning ever holds a value."""
    warnings = [message for _, warning, _, message in life.events if warning]
    assert VALUE not in "\n".join(warnings)
    return warnings[-1]


@pytest.mark.parametrize(("text", "place"), BAD)
async def test_the_last_good_secret_stays(life: Life, text: str, place: str) -> None:
    await settled(life)
    before = await life.existing(secret_ref("x"))
    await life.patch(X, spec={"target": {"template": templated(text)}})
    assert await life.ready(X) == NO_UPDATE
    assert await life.existing(secret_ref("x")) == before
    message = told(life)
    assert "template at key a" in message
    assert place in message
    failure = life.controllers.context.memory.failure(X)
    assert failure is not None
    assert place in failure.message
    assert VALUE not in str(failure)
    await life.patch(X, spec={"target": {"template": templated("better {{ .a }}")}})
    assert await life.data("x") == {"a": f"better {VALUE}"}


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        pytest.param(
            {"literal": "only {{ .a }}"}, "templateFrom[0]: the template does not render", id="text"
        ),
        pytest.param({"literal": "[{{ .a }}]"}, "templateFrom[0]: the template does not render", id="list"),
        pytest.param(
            {"literal": "{{ .a }}: ["}, "templateFrom[0]: the rendered text is not YAML", id="broken"
        ),
        pytest.param({"literal": "b: {c: {{ .a }}}"}, "templateFrom[0]: the value of key", id="nested"),
        pytest.param({"literal": "b: {{ .gone }}"}, "line 1, column 7", id="missing key"),
        pytest.param(
            {"configMap": {"name": "none", "items": [{"key": "t"}]}},
            "templateFrom[0]: ConfigMap",
            id="no map",
        ),
    ],
)
async def test_a_template_that_yields_no_map(life: Life, entry: Document, place: str) -> None:
    await settled(life)
    await life.patch(X, spec={"target": {"template": {"data": None, "templateFrom": [entry]}}})
    assert await life.ready(X) == NO_UPDATE
    assert await life.data("x") == {"a": f"good {VALUE}"}
    assert place in told(life)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("{{ nothing .value }}", "line 1, column 4", id="unknown function"),
        pytest.param("{{ .value | fail }}", "function fail", id="fails"),
        pytest.param(RECURSION, "line 1", id="endless recursion"),
        pytest.param(
            '{{ range until 11 }}{{ genPrivateKey "ed25519" }}{{ end }}', "more keys", id="many keys"
        ),
    ],
)
@pytest.mark.parametrize("kind", ["ExternalSecret", "PushSecret"])
async def test_a_transform_that_fails(life: Life, kind: str, text: str, place: str) -> None:
    await settled(life)
    rewrite = [{"transform": {"template": text}}]
    if kind == "ExternalSecret":
        life.manager.values["all"] = f'{{"one": "{VALUE}"}}'
        entry = {"extract": {"key": "all"}, "rewrite": rewrite}
        await life.patch(X, spec={"dataFrom": [entry]})
        assert await life.ready(X) == NO_DATA
        assert await life.data("x") == {"a": f"good {VALUE}"}
    else:
        await life.apply(
            secret("q", {"one": VALUE}),
            manifest(
                "PushSecret",
                "p",
                {
                    "secretStoreRefs": [{"name": "s"}],
                    "selector": {"secret": {"name": "q"}},
                    "dataTo": [{"storeRef": {"name": "s"}, "rewrite": rewrite}],
                },
            ),
        )
        status, reason, message = await life.ready(PUSH)
        assert (status, reason) == ("False", "Errored")
        assert place in message
    assert place in told(life)


async def test_a_transform_of_a_key_that_is_missing_is_no_value_as_in_go(life: Life) -> None:
    """The operator renders these with Go's default: the key is told as invalid, and no Secret holds it."""
    await settled(life)
    life.manager.values["all"] = '{"one": "1"}'
    entry = {"extract": {"key": "all"}, "rewrite": [{"transform": {"template": "{{ .gone }}"}}]}
    await life.patch(X, spec={"dataFrom": [entry]})
    assert await life.ready(X) == NO_DATA
    assert await life.data("x") == {"a": f"good {VALUE}"}


@pytest.mark.parametrize(("text", "place"), BAD)
async def test_what_was_pushed_stays(life: Life, text: str, place: str) -> None:
    def pushing(template: str) -> Document:
        return manifest(
            "PushSecret",
            "p",
            {
                "secretStoreRefs": [{"name": "s"}],
                "selector": {"secret": {"name": "q"}},
                "template": templated(template),
                "data": [{"match": {"secretKey": "a", "remoteRef": {"remoteKey": "r"}}}],
            },
        )

    await life.apply(store(), secret("q", {"a": VALUE, "yaml": f"{VALUE}: ["}), pushing("good {{ .a }}"))
    assert life.manager.values["r"] == f"good {VALUE}"
    source = await life.existing(secret_ref("q"))
    await life.apply(pushing(text))
    assert life.manager.values["r"] == f"good {VALUE}"
    assert await life.existing(secret_ref("q")) == source
    assert place in told(life)  # as with the operator, an event and no condition


async def test_an_expression_that_would_hang_others_ends(life: Life) -> None:
    await settled(life)
    life.manager.values["k"] = "a" * 5000
    begin = time.monotonic()
    await life.patch(
        X, spec={"target": {"template": templated(f'{{{{ regexMatch "{SLOW_EXPRESSION}" .a }}}}')}}
    )
    assert await life.data("x") == {"a": "false"}
    assert time.monotonic() - begin < 5


async def test_one_sync_has_one_budget(life: Life) -> None:
    """Ten keys for all texts of a template together, not for each of a thousand."""
    await settled(life)
    texts = {f"k{number}": '{{ genPrivateKey "ed25519" }}' for number in range(11)}
    await life.patch(X, spec={"target": {"template": {"data": texts}}})
    assert await life.ready(X) == NO_UPDATE
    assert "more keys" in told(life)
    del texts["k0"]
    await life.patch(X, spec={"target": {"template": {"data": {"k0": None, "a": "a"}}}})
    assert (await life.ready(X))[0] == "True"


async def test_the_budget_is_a_setting(clock: Clock) -> None:
    for name, value, is_ready in (
        ("template_keys", 0, "False"),
        ("template_memory", 10, "False"),
        ("template_time", 0.0, "False"),
        ("template_timeout", 0.0, "True"),
    ):
        async with Life(clock).running(marks=True, **{name: value}) as life:
            template = templated('{{ genPrivateKey "ed25519" | len }} {{ repeat 20 .a }}')
            await life.apply(store(), wanting(target={"template": template}))
            assert (await life.ready(X))[0] == is_ready, name


async def test_the_condition_goes_on_with_the_reason(life: Life) -> None:
    await settled(life)
    await life.apply(wanting(target={"template": templated("{{ .a }} {{ .b }}")}))
    assert (await life.full_ready(X))[2] == (
        "could not update secret: unable to execute template at key a: "
        'template a, line 1, column 13: map has no entry for key "b"'
    )
    failure = life.controllers.context.memory.failure(X)
    assert failure is not None
    assert failure.hint == "known are a"
    await life.apply(wanting(key="db/gone"))
    assert await life.full_ready(X) == (
        "False",
        "SecretSyncedError",
        "could not get secret data from provider: db/gone does not exist in SecretStore/s",
    )
