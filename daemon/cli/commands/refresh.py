"""`syncret refresh`: let a running daemon refresh one object now."""

import sys
from argparse import Namespace

from syncret.daemon.cli.daemon_client import CommandError, ask_about, print_json
from syncret.daemon.cli.exit_codes import OK


def run(options: Namespace) -> int:
    """Ask for it; what comes of it is told by `syncret explain`."""
    try:
        answer = ask_about(options, "POST", "/refresh")
    except CommandError as refusal:
        return refusal.report()
    if options.output == "json":
        print_json(answer)
    else:
        sys.stdout.write(f"{answer['object']}: {answer['message']}\n")
    return OK
