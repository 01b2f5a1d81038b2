"""The flags by which a program is supervised."""

import signal
from argparse import ArgumentTypeError

import pytest

from syncret.daemon.cli.main import main
from syncret.daemon.cli.parser.exec_flags import reaction, signal_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("ignore", None),
        ("restart", 0),
        ("signal:HUP", signal.SIGHUP),
        ("signal:SIGUSR2", signal.SIGUSR2),
    ],
)
def test_what_is_done_when_values_change(text: str, number: int | None) -> None:
    assert reaction(text) == number


@pytest.mark.parametrize("text", ["", "signal", "reload", "restart:HUP"])
def test_what_cannot_be_done(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="must be"):
        reaction(text)


@pytest.mark.parametrize("text", ["", "9", "hup", "KILLALL"])
def test_what_is_no_signal(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="there is no signal"):
        signal_number(text)


@pytest.mark.parametrize("flag", ["--debounce=1s", "--splay=1s", "--stop-signal=INT", "--stop-timeout=1s"])
def test_a_flag_that_nothing_can_heed_is_refused(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exec", "-f", "none", flag, "--", "true"]) == 2
    name = flag.partition("=")[0]
    assert capsys.readouterr().err == (
        f"syncret: {name} has no effect: nothing stays beside the program (add --on-change restart)\n"
    )
