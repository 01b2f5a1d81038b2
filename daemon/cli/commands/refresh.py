"""`syncret refresh`: asks a running daemon, or the controller of a cluster, to refresh one object now."""

import sys
from argparse import Namespace

from syncret.config.visible import printable
from syncret.daemon.cli.daemon_client import Answer, CommandError, print_json, request_object
from syncret.daemon.cli.exit_codes import OK
from syncret.daemon.cli.terminal import print_text


def run(options: Namespace) -> int:
    """Request the refresh; `syncret explain` shows its result."""
    try:
        answer = _answer(options)
    except CommandError as refusal:
        return refusal.report()
    if options.output == "json":
        print_json(answer)
    else:
        print_text(sys.stdout, printable(f"{answer['object']}: {answer['message']}"))
    return OK


def _answer(options: Namespace) -> Answer:
    """What was requested, or done. Raises CommandError."""
    if options.kubernetes:
        from syncret.daemon.cli.cluster.refresh import refresh  # libraries that a daemon's client needs not

        return refresh(options)
    return request_object(options, "POST", "/refresh")
