"""`syncret refresh`: asks a running daemon to refresh one object now."""

import sys
from argparse import Namespace

from syncret.config.visible import printable
from syncret.daemon.cli.daemon_client import CommandError, print_json, request_object
from syncret.daemon.cli.exit_codes import OK
from syncret.daemon.cli.terminal import print_text


def run(options: Namespace) -> int:
    """Request the refresh; `syncret explain` shows its result."""
    try:
        answer = request_object(options, "POST", "/refresh")
    except CommandError as refusal:
        return refusal.report()
    if options.output == "json":
        print_json(answer)
    else:
        print_text(sys.stdout, printable(f"{answer['object']}: {answer['message']}"))
    return OK
