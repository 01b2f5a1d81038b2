"""Errors of providers: their texts are short, whatever they quote."""

import pytest

from syncret.providers.errors import Malformed, OverBudget, SyncError, shortened

LONG = "k" * 2_000_000


@pytest.mark.parametrize("text", ["", "short", "x" * 1000])
def test_a_usual_text_stays_as_it_is(text: str) -> None:
    assert shortened(text) == text


def test_a_long_text_keeps_its_begin_and_its_end() -> None:
    cut = shortened(f"reading {LONG} failed: not found")
    assert len(cut) < 1100
    assert cut.startswith("reading kkk")
    assert " characters ..." in cut
    assert cut.endswith("kkk failed: not found")


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(Malformed(f"key {LONG} does not exist"), id="a message"),
        pytest.param(OverBudget("too much").within(f"rewrite[0] on key {LONG}"), id="what was done"),
        pytest.param(Malformed("x").within(LONG).within(LONG).at("spec.data[0]"), id="both"),
    ],
)
def test_no_error_quotes_a_long_key(error: SyncError) -> None:
    assert len(str(error)) < 1200
    assert len(error.args[0]) < 1200


def test_no_hint_does_either() -> None:
    assert len(Malformed("x", hint=LONG).hint) < 1100
