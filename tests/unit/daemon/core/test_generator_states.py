"""Which records of generators are given up."""

import pytest

from syncret.config.meta import Metadata, OwnerReference
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.generators import GeneratorState, GeneratorStateSpec
from syncret.daemon.core.generator_states import OWNER_KEY, owner_key, superseded

OWNER = ExternalSecret(metadata=Metadata(name="x", namespace="a", uid="u"))
REFERENCE = OwnerReference(api_version="external-secrets.io/v1", kind="ExternalSecret", name="x", uid="u")


def record(name: str, created: str, version: str) -> GeneratorState:
    return GeneratorState(
        metadata=Metadata(
            name=name,
            namespace="a",
            creation_timestamp=created,
            resource_version=version,
            labels={OWNER_KEY: owner_key(OWNER, "0")},
            owner_references=(REFERENCE,),
        ),
        spec=GeneratorStateSpec(resource={}, state={}),
    )


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param(
            [record("b", "2026-01-01T00:00:01Z", "7"), record("a", "2026-01-01T00:00:02Z", "8")],
            ["b"],
            id="the older one",
        ),
        pytest.param(
            [record("z", "2026-01-01T00:00:01Z", "9"), record("a", "2026-01-01T00:00:01Z", "10")],
            ["z"],
            id="of one second, the one with the lower version, whatever their names",
        ),
        pytest.param(
            [record("a", "2026-01-01T00:00:01Z", "10"), record("z", "2026-01-01T00:00:01Z", "9")],
            ["z"],
            id="in whatever order they come",
        ),
    ],
)
def test_of_an_entry_that_was_drawn_again_the_newest_record_but_one_is_kept(
    records: list[GeneratorState], expected: list[str]
) -> None:
    given_up = superseded([*records, record("new", "2026-01-01T00:00:03Z", "11")], OWNER, {"0": "new"})
    assert [state.metadata.name for state in given_up] == expected
