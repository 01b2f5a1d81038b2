"""What a PushSecret is told of an entry of `dataTo` that cannot be expanded: ESO's words, and where."""

import msgspec
import pytest

from syncret.config.fields import Json
from syncret.config.resources.push_secret import PushSecretSpec
from syncret.daemon.core.push import Store, entries
from syncret.providers.errors import Malformed
from tests.support.templates import no_template

STORE = Store("SecretStore", "store")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        pytest.param(
            {"match": {"regexp": "("}},
            'dataTo[0]: match failed: failed to compile regexp pattern "("',
            id="match-regexp",
        ),
        pytest.param(
            {"rewrite": [{"regexp": {"source": "(", "target": ""}}]},
            'dataTo[0]: rewrite failed: rewrite[0]: invalid regexp "("',
            id="rewrite-regexp",
        ),
        pytest.param(
            {"conversionStrategy": "ReverseUnicode"},
            "dataTo[0]: conversion failed: secret name collision during conversion",
            id="conversion",
        ),
    ],
)
def test_says_which_part_failed(entry: Json, told: str) -> None:
    spec = msgspec.convert(
        {
            "secretStoreRefs": [{"name": "store", "kind": "SecretStore"}],
            "selector": {"secret": {"name": "src"}},
            "dataTo": [{"storeRef": {"name": "store", "kind": "SecretStore"}, **entry}],
        },
        PushSecretSpec,
    )
    with pytest.raises(Malformed) as caught:
        entries(spec, {"a-b": b"1", "a_U002d_b": b"2"}, STORE, transform=no_template)
    assert told in str(caught.value)
