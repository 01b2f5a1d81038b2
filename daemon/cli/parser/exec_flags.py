"""The flags of `exec`."""

import signal
from argparse import ArgumentParser, ArgumentTypeError

from syncret.daemon.cli.parser.options import Commands, add, duration, manifests, path, settings


def add_exec(commands: Commands) -> None:
    """`syncret exec`."""
    command = add(
        commands,
        "exec",
        "run a program with values as environment variables",
        "Fetches once, as `syncret sync` does, writes nothing, and becomes the program: signals, terminal, "
        "exit code and memory are its own. Each key of each Secret that the manifests make is a variable, in "
        "capitals and with _ for - and . in its name. Other programs of the same user can read a process's "
        "variables, and children inherit them: prefer files where the program can read them. Exit code 1 if "
        "a resource failed, 2 if a manifest or the usage is wrong, 125 if another error keeps the program "
        "from being started, 126 if it cannot be executed, 127 if there is none; then that of the program.",
        "syncret exec -f manifests/ -- ./server --port 8080",
        "syncret exec -f manifests/ --secret db:password=PGPASSWORD -- psql -h db app",
        "syncret exec -f manifests/ --pristine -- env",
    )
    manifests(command)
    command.add_argument(
        "--secret",
        action="append",
        default=[],
        type=chosen_secret,
        metavar="NAME[:KEY=VAR,...]",
        help="a Secret whose keys become variables, or these keys of it under these names; with its "
        "namespace as NAMESPACE/NAME; may be repeated, the later wins (default: all Secrets)",
    )
    command.add_argument(
        "--selector",
        dest="having_labels",  # `selector` is a setting, of what a sidecar delivers
        default={},
        type=labels,
        metavar="LABEL=VALUE,...",
        help="labels that the Secrets must have (default: any)",
    )
    command.add_argument("--prefix", default="", metavar="TEXT", help="what is put before each name")
    command.add_argument(
        "--case",
        choices=("upper", "keep"),
        default="upper",
        help="capitals with _ for - and . (default), or the keys as they are",
    )
    command.add_argument(
        "--pristine",
        action="store_true",
        help="leave out all variables of the caller but PATH, HOME, LANG and TERM",
    )
    command.add_argument(
        "--keep-existing", action="store_true", help="what the caller has set wins (default: the Secrets do)"
    )
    command.add_argument(
        "--env-strict",
        action="store_true",
        help="a variable that the caller has set to @secret must be filled, or nothing is run",
    )
    command.add_argument(
        "--files",
        type=path,
        metavar="DIR",
        help="also write each Secret as a folder of files, and set SYNCRET_FILES to DIR; choose a tmpfs",
    )
    command.add_argument(
        "--cache",
        action="store_true",
        help="keep what is read, encrypted, and use it while a manager does not answer; the setting "
        "cache.key names the key, and the file is beside the state, without one in ~/.cache/syncret",
    )
    _supervision(command)
    command.add_argument("program", nargs="+", metavar="CMD", help="the program and its arguments, after --")
    settings(command)


def _supervision(command: ArgumentParser) -> None:
    """What is done when values change, and how the program is ended for that."""
    group = command.add_argument_group("when values change")
    group.add_argument(
        "--on-change",
        type=reaction,
        metavar="WHAT",
        help="restart: stay as the parent of the program, and start it again with the new values; "
        "signal:HUP (or another): send it that; ignore (default): become the program",
    )
    group.add_argument(
        "--debounce",
        type=duration,
        metavar="DURATION",
        help="how long nothing else may have changed before that (default: 2s)",
    )
    group.add_argument(
        "--splay",
        type=duration,
        metavar="DURATION",
        help="up to so much later, by chance: not all hosts restart at once (default: 0s)",
    )
    group.add_argument(
        "--stop-signal",
        type=signal_number,
        metavar="NAME",
        help="what asks the program to end before it is started again (default: TERM)",
    )
    group.add_argument(
        "--stop-timeout",
        type=duration,
        metavar="DURATION",
        help="how long it may take to end, also after a SIGTERM from outside, before it is killed "
        "(default: 30s)",
    )


def reaction(text: str) -> int | None:
    """Parse `restart` (0), `signal:NAME` (its number) or `ignore` (None)."""
    if text == "ignore":
        return None
    if text == "restart":
        return 0
    how, _, name = text.partition(":")
    if how != "signal":
        raise ArgumentTypeError("must be restart, ignore, or signal:NAME, such as signal:HUP")
    return signal_number(name)


def signal_number(text: str) -> int:
    """Parse the name of a signal, with or without SIG."""
    try:
        return signal.Signals[f"SIG{text.removeprefix('SIG')}"]
    except KeyError:
        raise ArgumentTypeError(f"there is no signal {text}; must be a name, such as HUP") from None


def chosen_secret(text: str) -> tuple[str, dict[str, str]]:
    """Parse `NAME` or `NAME:KEY=VAR,...`."""
    name, colon, rest = text.partition(":")
    pairs = [each.partition("=") for each in rest.split(",")] if colon else []
    if not name or any(not (key and variable) for key, _, variable in pairs):
        raise ArgumentTypeError("must be NAME or NAME:KEY=VAR,..., such as db:password=PGPASSWORD")
    return name, {key: variable for key, _, variable in pairs}


def labels(text: str) -> dict[str, str]:
    """Parse `LABEL=VALUE,...`."""
    pairs = [each.partition("=") for each in text.split(",")]
    if any(not (label and equals) for label, equals, _ in pairs):
        raise ArgumentTypeError("must be LABEL=VALUE,..., such as app=shop")
    return {label: value for label, _, value in pairs}
