"""What a PushSecret is told of an entry of `dataTo` that cannot be expanded: ESO's words, and where."""

from collections.abc import Callable

import msgspec
import pytest

from syncret.config.fields import Json
from syncret.config.resources.push_secret import PushSecretSpec
from syncret.daemon.core.push_entries import Store, entries
from syncret.providers.errors import Malformed
from syncret.providers.work import Work
from tests.support.templates import no_template

STORE = Store("SecretStore", "store")


def spec(entry: Json) -> PushSecretSpec:
    return msgspec.convert(
        {
            "secretStoreRefs": [{"name": "store", "kind": "SecretStore"}],
            "selector": {"secret": {"name": "src"}},
            "dataTo": [{"storeRef": {"name": "store", "kind": "SecretStore"}, **entry}],
        },
        PushSecretSpec,
    )


def test_what_matches_no_key_is_not_looked_at_further() -> None:
    rewrite = [{"regexp": {"source": "(", "target": ""}}]
    assert (
        entries(
            spec({"match": {"regexp": "z"}, "rewrite": rewrite}),
            {"a": b"0"},
            STORE,
            Work(),
            transform=no_template,
        )
        == ()
    )


def transform(text: str) -> Callable[[str], str]:
    if "parse" in text:
        raise Malformed("no such function")

    def run(_key: str) -> str:
        raise Malformed("out of luck")

    return run


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        pytest.param(
            {"match": {"regexp": "("}},
            'dataTo[0]: match failed: failed to compile regexp pattern "(": '
            "error parsing regexp: missing closing ): `(`",
            id="match-regexp",
        ),
        pytest.param(
            {"rewrite": [{"regexp": {"source": "(", "target": ""}}]},
            'dataTo[0]: rewrite failed: rewrite[0]: invalid regexp "("',
            id="rewrite-regexp",
        ),
        pytest.param(
            {"rewrite": [{"transform": {"template": "{{ parse }}"}}]},
            "dataTo[0]: rewrite failed: rewrite[0]: invalid template: no such function",
            id="transform-parse",
        ),
        pytest.param(
            {
                "rewrite": [
                    {"regexp": {"source": "$", "target": "!"}},
                    {"transform": {"template": "{{ run }}"}},
                ]
            },
            'dataTo[0]: rewrite failed: rewrite[1] on key "a!": template exec: out of luck',
            id="transform-run",
        ),
        pytest.param(
            {"conversionStrategy": "ReverseUnicode"},
            "dataTo[0]: conversion failed: secret name collision during conversion",
            id="conversion",
        ),
    ],
)
def test_says_which_part_failed(entry: Json, told: str) -> None:
    with pytest.raises(Malformed) as caught:
        entries(spec(entry), {"a": b"0", "a-b": b"1", "a_U002d_b": b"2"}, STORE, Work(), transform=transform)
    assert told in str(caught.value)
