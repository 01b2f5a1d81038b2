"""The environment of a program: variables from Secrets, and what is left of the caller's."""

import pytest

from syncret.daemon.core.delivery.environment import (
    Choice,
    NameTwice,
    Naming,
    program_environment,
    unfilled,
    variables_of,
)
from syncret.daemon.core.delivery.names import Inexpressible

PLAIN = Naming()
SECRETS = {"n/a": {"user": b"1", "password": b"2"}, "n/b": {"user": b"3"}}
CALLER = {
    b"PATH": b"/bin",
    b"HOME": b"/root",
    b"USER": b"before",
    b"X": b"@secret",
    b"SYNCRET_MANIFESTS": b"m",
    b"SYNCRET_FILES": b"f",
    b"CREDENTIALS_DIRECTORY": b"/run/credentials",
}


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        pytest.param([Choice("n/a")], {"USER": b"1", "PASSWORD": b"2"}, id="one"),
        pytest.param(
            [Choice("n/a"), Choice("n/b")],
            {"USER": b"3", "PASSWORD": b"2"},
            id="of two chosen the later wins",
        ),
        pytest.param([Choice("n/a", {"password": "PG"})], {"PG": b"2"}, id="named keys alone"),
    ],
)
def test_which_values_become_variables(chosen: list[Choice], expected: dict[str, bytes]) -> None:
    assert variables_of(SECRETS, chosen, PLAIN) == expected


def test_two_secrets_that_nobody_chose_do_not_give_one_variable() -> None:
    with pytest.raises(NameTwice, match="Secrets n/a and n/b both give USER"):
        variables_of(SECRETS, [], PLAIN)


def test_a_key_that_is_missing_is_named() -> None:
    with pytest.raises(Inexpressible, match='key "token" is not in Secret n/a'):
        variables_of(SECRETS, [Choice("n/a", {"token": "T"})], PLAIN)


def test_a_value_that_no_variable_can_hold_is_refused() -> None:
    with pytest.raises(Inexpressible, match="a variable can hold 131,071"):
        variables_of({"n/a": {"k": b"x" * 140_000}}, [], PLAIN)


def test_the_caller_keeps_what_is_not_ours() -> None:
    made = program_environment(CALLER, {"USER": b"after"})
    assert made == {
        b"PATH": b"/bin",
        b"HOME": b"/root",
        b"USER": b"after",
        b"X": b"@secret",
        b"SYNCRET_FILES": b"f",
    }


def test_pristine_leaves_four_variables() -> None:
    made = program_environment(CALLER, {"USER": b"after"}, pristine=True)
    assert made == {b"PATH": b"/bin", b"HOME": b"/root", b"USER": b"after"}


def test_what_the_caller_has_set_wins_if_asked_for_but_for_placeholders() -> None:
    made = program_environment(CALLER, {"USER": b"after", "X": b"filled"}, keep_existing=True)
    assert (made[b"USER"], made[b"X"]) == (b"before", b"filled")
    assert unfilled(made) == []
    assert unfilled(CALLER) == ["X"]
