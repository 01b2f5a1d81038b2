"""The command line: every command, flag and example, and nothing that takes time to import.

Completion, the man page and docs/reference/cli.md are made of this parser: it is the one place to mend.
"""

import sys
from argparse import Action, ArgumentParser, HelpFormatter, Namespace
from collections.abc import Sequence
from typing import Any, Final, Protocol

WIDTH: Final = 88

DESCRIPTION: Final = """\
Keeps secrets in step between secret managers and the places that use them.

You write manifests (YAML): a SecretStore says where values come from, an ExternalSecret says which \
of them make up one Secret. syncret fetches them, writes them as files, and keeps them up to date.
"""

EPILOG: Final = """\
examples:
  syncret validate -f manifests/                what is wrong with my manifests?
  syncret plan -f manifests/ --output-dir out   what would a sync change?
  syncret sync -f manifests/ --output-dir out   bring everything in step once
  syncret run -f manifests/ --output-dir out    keep everything in step
  syncret status                                how is the running daemon doing?
  syncret explain ExternalSecret/database       where does each key come from?

`syncret COMMAND --help` tells more of each.

exit codes:
  0  all is well
  1  some resource failed
  2  a manifest or the usage is wrong
  3  the state, the target or the daemon cannot be reached
"""


class Commands(Protocol):
    """What `add_subparsers` gives."""

    def add_parser(self, name: str, **options: Any) -> ArgumentParser: ...  # noqa: ANN401  # as argparse has it


class _Version(Action):
    """`--version`. To find it out takes longer than all else here, so that is done only when asked."""

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        del namespace, values, option_string
        from syncret.daemon.ops.version import version

        sys.stdout.write(f"syncret {version()}\n")
        parser.exit()


class Formatter(HelpFormatter):
    """Wraps paragraphs and leaves tables and examples (whatever has two spaces in a row) as they are."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=WIDTH)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = text.strip().split("\n\n")
        return "\n\n".join(
            each if "  " in each else super(Formatter, self)._fill_text(each, width, indent)
            for each in paragraphs
        )


def parser() -> ArgumentParser:
    """The whole command line."""
    top = ArgumentParser(
        prog="syncret", description=DESCRIPTION, epilog=EPILOG, formatter_class=Formatter, allow_abbrev=False
    )
    top.add_argument("-V", "--version", action=_Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    _validate(commands)
    _plan(commands)
    _sync(commands)
    _run(commands)
    _status(commands)
    _explain(commands)
    _refresh(commands)
    _simulate(commands)
    _providers(commands)
    _export(commands)
    return top


def _add(commands: Commands, name: str, summary: str, detail: str, *examples: str) -> ArgumentParser:
    text = f"{summary[0].upper()}{summary[1:]}.\n\n{detail}"
    shown = "examples:\n" + "\n".join(f"  {example}" for example in examples) if examples else None
    added: ArgumentParser = commands.add_parser(
        name, help=summary, description=text, epilog=shown, formatter_class=Formatter, allow_abbrev=False
    )
    added.set_defaults(module=name)
    return added


def _manifests(command: ArgumentParser, *, required: bool = True) -> None:
    command.add_argument(
        "-f",
        "--manifests",
        action="append",
        metavar="PATH",
        required=required,
        help="a file or folder of manifests (.yaml, .yml, .json); may be given several times",
    )


def _settings(command: ArgumentParser) -> None:
    group = command.add_argument_group("settings (`syncret export settings` lists them all)")
    group.add_argument("--config", metavar="FILE", help="a settings file (YAML)")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="one setting, over the file and the environment (SYNCRET_<NAME>); may be given several times",
    )


def _output(command: ArgumentParser, *choices: str) -> None:
    command.add_argument(
        "-o", "--output", choices=choices, default=choices[0], help=f"the format (default: {choices[0]})"
    )


def _output_dir(command: ArgumentParser, text: str) -> None:
    command.add_argument("--output-dir", metavar="DIR", help=text)


def _show_values(command: ArgumentParser) -> None:
    command.add_argument(
        "--show-values", action="store_true", help="print secret values; without it they are redacted"
    )


def _validate(commands: Commands) -> None:
    command = _add(
        commands,
        "validate",
        "tell every problem of every manifest, and its remedy",
        "Names file, line and field. Judges each document as an API server and the admission webhooks "
        "would. Works offline: nothing is read but the files. An unknown field, and a reference to an "
        "object that is not among the files, are warnings only. Exit code 2 where anything is an error.",
        "syncret validate -f manifests/",
        "syncret validate -f store.yaml -f secrets/ -o json",
    )
    _manifests(command)
    _output(command, "text", "json")
    _show_values(command)


def _plan(commands: Commands) -> None:
    command = _add(
        commands,
        "plan",
        "show what a sync would change: names of keys, no values",
        "Reads from the stores, writes nothing.",
        "syncret plan -f manifests/ --output-dir out",
    )
    _manifests(command)
    _output_dir(command, "compare with the files that stand there")
    command.add_argument("--state", metavar="FILE", help="compare with the state of earlier passes")
    _output(command, "text", "json")
    _settings(command)


def _sync(commands: Commands) -> None:
    command = _add(
        commands,
        "sync",
        "bring everything in step once, then exit",
        "With the same --state, several passes are one life: what is gone from the manifests is cleaned "
        "up, and what is not due is not fetched. Exit code 1 where any resource failed.",
        "syncret sync -f manifests/ --output-dir out",
        "syncret sync -f manifests/ --output-dir out --state out.db -o json",
    )
    _manifests(command)
    _output_dir(command, "where each Secret becomes a folder of files: DIR/<namespace>/<name>/<key>")
    command.add_argument(
        "--state", metavar="FILE", help="what survives from one pass to the next (default: nothing)"
    )
    _output(command, "table", "json", "yaml")
    _show_values(command)
    _settings(command)


def _run(commands: Commands) -> None:
    command = _add(
        commands,
        "run",
        "keep everything in step: the daemon",
        "Follows the manifests, refreshes what is due, retries what failed. SIGTERM and Ctrl-C let what is "
        "under way finish and exit with 0; SIGHUP reads the settings again.",
        "syncret run -f manifests/ --output-dir out --state out.db --socket out.sock",
        "syncret run --config /etc/syncret/syncret.yaml",
    )
    _manifests(command, required=False)
    _output_dir(command, "where each Secret becomes a folder of files (setting outputDir)")
    command.add_argument("--state", metavar="FILE", help="what survives a restart (setting stateFile)")
    command.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help="where /metrics, /healthz, /readyz and /status are served; port 0: any, empty: nowhere",
    )
    command.add_argument(
        "--socket", metavar="PATH", help="where status, explain and refresh ask; empty: nowhere"
    )
    _settings(command)


def _status(commands: Commands) -> None:
    command = _add(
        commands,
        "status",
        "show how a running daemon is doing, object by object",
        "Exit code 1 where any object is not in order, 3 where no daemon answers.",
        "syncret status",
        "syncret status --failing -o json",
    )
    command.add_argument("-n", "--namespace", metavar="NAMESPACE", help="only the objects of one namespace")
    command.add_argument("--failing", action="store_true", help="only what is not in order")
    _ask(command)


def _explain(commands: Commands) -> None:
    command = _add(
        commands,
        "explain",
        "tell where each key of an object comes from, and what is next",
        "For each key: the store, the remote key and property, the entry of the spec, the steps that "
        "changed it. Then the last error with its remedy, and when the next attempt is, and why then. "
        "Kinds have short names: es, ps, ss, css, ces, cps.",
        "syncret explain ExternalSecret/database",
        "syncret explain es/database -n payments",
    )
    _object(command)
    _ask(command)


def _refresh(commands: Commands) -> None:
    command = _add(
        commands,
        "refresh",
        "let a running daemon refresh an object now, due or not",
        "For when a value was rotated just now. Of a ClusterExternalSecret, all that it made is refreshed. "
        "The wish stands until it succeeds. What is made only once (refreshPolicy CreatedOnce) is not made "
        "again.",
        "syncret refresh ExternalSecret/database",
        "syncret refresh es/database -n payments",
    )
    _object(command)
    _ask(command)


def _object(command: ArgumentParser) -> None:
    command.add_argument("object", metavar="KIND/NAME", help="such as ExternalSecret/database")
    command.add_argument(
        "-n", "--namespace", metavar="NAMESPACE", default="default", help="its namespace (default: default)"
    )


def _ask(command: ArgumentParser) -> None:
    command.add_argument("--socket", metavar="PATH", help="the daemon's control socket (setting socket)")
    _output(command, "text", "json")
    _settings(command)


def _simulate(commands: Commands) -> None:
    command = _add(
        commands,
        "simulate",
        "run manifests through time in a simulated cluster",
        "For trying policies, rotations and outages before they are real. Works offline: the clock, the "
        "API server and the secret managers are simulated, the engine is the real one.",
        "syncret simulate scenario.yaml",
    )
    command.add_argument("scenario", nargs="+", metavar="FILE", help="a file of scenarios (YAML or JSON)")
    _output(command, "json", "yaml")
    _show_values(command)


def _providers(commands: Commands) -> None:
    command = _add(
        commands,
        "providers",
        "list secret managers and generators, and what each can do",
        "`spec only` means that manifests for it are judged and simulated, but that it cannot be reached.",
        "syncret providers",
    )
    _output(command, "text", "json")


def _export(commands: Commands) -> None:
    command = _add(
        commands,
        "export",
        "print schemas, CRDs, settings, completion, the man page",
        "schema KIND       the schema of one kind, as JSON\n"
        "crds              CustomResourceDefinitions of all kinds\n"
        "settings          a settings file with every setting, its default and its meaning\n"
        "completion SHELL  for bash, zsh or fish\n"
        "man               the man page",
        "syncret export settings > /etc/syncret/syncret.yaml",
        "syncret export completion bash > /etc/bash_completion.d/syncret",
        "syncret export man > /usr/share/man/man1/syncret.1",
    )
    command.add_argument(
        "what", choices=("schema", "crds", "settings", "completion", "man"), help="what to print"
    )
    command.add_argument("name", nargs="?", metavar="KIND|SHELL", help="of which kind, for which shell")
