"""The command line: every command, flag and example, and nothing that takes time to import."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter, _SubParsersAction
from typing import Any, Final, TypeAlias

Commands: TypeAlias = "_SubParsersAction[Any]"

EPILOG: Final = """\
examples:
  syncret validate -f manifests/               every problem, with file, line, field and remedy
  syncret plan -f manifests/                   what a sync would create, change and delete
  syncret sync -f manifests/ --output-dir out  one pass, then exit
  syncret run -f manifests/                    the daemon: keeps everything in step
  syncret explain ExternalSecret/database      where each key comes from, and what happens next

exit codes: 0 all synced, 1 some resource failed, 2 invalid manifest or usage, 3 state or target unusable
"""


def parser() -> ArgumentParser:
    """The whole command line."""
    top = ArgumentParser(
        prog="syncret",
        description="Keeps secrets in step between secret managers and the places that use them.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="store_true", help="print the version and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _run(commands)
    _sync(commands)
    _plan(commands)
    _validate(commands)
    _simulate(commands)
    _ask(commands)
    _tell(commands)
    return top


def _add(commands: Commands, name: str, module: str, summary: str, detail: str = "") -> ArgumentParser:
    added: ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.\n\n{detail}".strip(),
        formatter_class=RawDescriptionHelpFormatter,
    )
    added.set_defaults(module=module)
    return added


def _manifests(command: ArgumentParser, *, required: bool = True) -> None:
    command.add_argument(
        "-f",
        "--manifests",
        action="append",
        metavar="PATH",
        required=required,
        help="a file or folder of manifests; may be given several times",
    )


def _settings(command: ArgumentParser) -> None:
    command.add_argument(
        "--config", metavar="FILE", help="settings file (YAML); see `syncret export settings`"
    )
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="one setting, over the file and the environment (SYNCRET_<NAME>); may be given several times",
    )


def _output(command: ArgumentParser, *choices: str) -> None:
    command.add_argument(
        "-o", "--output", choices=choices, default=choices[0], help=f"format (default: {choices[0]})"
    )


def _show_values(command: ArgumentParser) -> None:
    command.add_argument(
        "--show-values", action="store_true", help="print secret values instead of redacting them"
    )


def _run(commands: Commands) -> None:
    command = _add(
        commands,
        "run",
        "run",
        "the daemon: watch the manifests and keep everything in step",
        "Stops cleanly on SIGTERM and SIGINT, reads its settings again on SIGHUP.",
    )
    _manifests(command, required=False)
    command.add_argument("--output-dir", metavar="DIR", help="where Secrets become folders of files")
    command.add_argument("--state", metavar="FILE", help="the state that survives a restart")
    command.add_argument(
        "--listen", metavar="ADDRESS", help="address of /metrics, /healthz, /readyz, /status"
    )
    _settings(command)


def _sync(commands: Commands) -> None:
    command = _add(
        commands,
        "sync",
        "sync",
        "one pass: bring everything in step, then exit",
        "With the same --state, several passes are one life: what is gone from the manifests is cleaned up, what is\n"
        "not due is not fetched.",
    )
    _manifests(command)
    command.add_argument("--output-dir", metavar="DIR", help="where Secrets become folders of files")
    command.add_argument(
        "--state", metavar="FILE", help="the state that survives between passes (default: none)"
    )
    _output(command, "table", "json", "yaml")
    _show_values(command)
    _settings(command)


def _plan(commands: Commands) -> None:
    command = _add(
        commands,
        "plan",
        "plan",
        "what a sync would create, change and delete: key names, never values",
        "Reads from the stores, writes nothing.",
    )
    _manifests(command)
    command.add_argument("--output-dir", metavar="DIR", help="compare with what stands there")
    command.add_argument("--state", metavar="FILE", help="compare with the state of earlier passes")
    _output(command, "text", "json")
    _settings(command)


def _validate(commands: Commands) -> None:
    command = _add(
        commands,
        "validate",
        "validate",
        "every problem of every document, as an API server would see it",
        "Works offline. Unknown fields and references to objects that are not among the files are warnings.",
    )
    _manifests(command)
    _output(command, "text", "json")
    _show_values(command)


def _simulate(commands: Commands) -> None:
    command = _add(
        commands,
        "simulate",
        "simulate",
        "run scenarios: manifests through time in a simulated cluster",
        "Works offline: simulated clock, in-memory API server, in-memory secret managers; the engine is the real one.",
    )
    command.add_argument("scenario", nargs="+", metavar="FILE", help="a file of scenarios (YAML or JSON)")
    _output(command, "json", "yaml")
    _show_values(command)


def _ask(commands: Commands) -> None:
    for name, summary in (
        ("status", "what a running daemon keeps in step, and how that is going"),
        ("explain", "where each key of an object comes from, how old it is, and what happens next"),
        ("refresh", "let a running daemon refresh an object now"),
    ):
        command = _add(commands, name, name, summary)
        if name != "status":
            command.add_argument("object", metavar="KIND/NAME", help="such as ExternalSecret/database")
            command.add_argument(
                "-n", "--namespace", default="default", help="its namespace (default: default)"
            )
        command.add_argument("--socket", metavar="PATH", help="the daemon's control socket")
        _output(command, "text", "json")
        _settings(command)


def _tell(commands: Commands) -> None:
    command = _add(
        commands, "export", "export", "things made of the code: schemas, settings, completion, man page"
    )
    command.add_argument(
        "what", choices=("schema", "crds", "settings", "completion", "man"), help="what to print"
    )
    command.add_argument("name", nargs="?", help="schema: a kind; completion: bash, zsh or fish")
    command = _add(commands, "providers", "providers", "the table of providers and what each can do")
    _output(command, "text", "json")
