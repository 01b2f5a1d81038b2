import difflib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncret.config.catalog import generator_key
from syncret.config.paths import join, parse, render, write
from syncret.config.spelling import allowed_values_hint, did_you_mean


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([], ""),
        (["spec", "data", 0, "remoteRef", "key"], "spec.data[0].remoteRef.key"),
        ([0, "a"], "[0].a"),
        (["data", "tls.crt"], 'data["tls.crt"]'),
        (["data", 'a"b\\'], 'data["a\\"b\\\\"]'),
    ],
)
def test_paths_are_written_and_read(steps: list[str | int], expected: str) -> None:
    assert write(steps) == expected
    assert parse(expected) == steps


def test_a_path_is_rendered_from_its_innermost_step() -> None:
    assert render((((None, "spec"), "data"), 2)) == "spec.data[2]"


@given(st.lists(st.integers(min_value=0, max_value=99) | st.text(min_size=1, max_size=20)))
def test_every_written_path_is_read_again(steps: list[str | int]) -> None:
    assert parse(write(steps)) == steps


@pytest.mark.parametrize(
    ("parent", "child", "expected"),
    [("spec", "data[0]", "spec.data[0]"), ("spec", "[0]", "spec[0]"), ("spec", "", "spec"), ("", "a", "a")],
)
def test_paths_are_joined(parent: str, child: str, expected: str) -> None:
    assert join(parent, child) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("ACRAccessToken", "acrAccessTokenSpec"),
        ("SSHKey", "sshKeySpec"),
        ("UUID", "uuidSpec"),
        ("MFA", "mfaSpec"),
        ("Password", "passwordSpec"),
        ("VaultDynamicSecret", "vaultDynamicSecretSpec"),
    ],
)
def test_keys_of_generator_specs(kind: str, expected: str) -> None:
    assert generator_key(kind) == expected


def test_remedies_name_the_nearest_first() -> None:
    assert did_you_mean("secretKye", ["remoteRef", "secretKey"]) == "did you mean secretKey?"
    assert did_you_mean("zzz", ["a", "b"]) == "known are a, b"
    assert did_you_mean("zzz", [f"n{number}" for number in range(20)]).endswith(", ...")
    assert did_you_mean("zzz", []) == ""
    assert allowed_values_hint("owner", ["Merge", "Owner"]) == "write one of Owner, Merge"
    assert allowed_values_hint("v1", ["v2"]) == "write v2"


def test_of_very_many_words_a_thousand_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a request for one object of twenty thousand would hold the daemon up for a second."""
    compared: list[str] = []

    class Counting(difflib.SequenceMatcher[str]):
        def set_seq1(self, a: Sequence[str]) -> None:
            compared.append(str(a))
            super().set_seq1(a)

    monkeypatch.setattr(difflib, "SequenceMatcher", Counting)
    names = [*(f"application-{n}" for n in range(20_000)), "database"]
    assert did_you_mean("databse", names) == "did you mean database?"
    assert len(compared) < 1010


def test_a_name_with_a_dollar_or_a_digit_first_is_read_without_quotes_too() -> None:
    assert parse("spec.config.db.$opm") == ["spec", "config", "db", "$opm"]
    assert parse('a.0x["$b"][1]') == ["a", "0x", "$b", 1]
