"""Threads take short turns while they compute beside the event loop."""

import sys

from syncret.daemon.short_turns import short_turns


def test_turns_are_short_until_the_last_block_is_left() -> None:
    usual = sys.getswitchinterval()
    with short_turns():
        with short_turns():
            inner = sys.getswitchinterval()
        between = sys.getswitchinterval()
    assert inner == between < usual / 5
    assert sys.getswitchinterval() == usual
