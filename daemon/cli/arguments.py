"""The command line: every command, flag and example, and nothing that takes time to import.

Completion, the man page and docs/reference/cli.md are made of this parser: it is the one place to mend.
"""

from argparse import ArgumentParser
from typing import Final

from syncret.daemon.cli.grammar import (
    Command,
    Commands,
    Formatter,
    Version,
    add,
    ask,
    delimiters,
    manifests,
    object_named,
    output,
    output_dir,
    path,
    settings,
    show_values,
)

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


def parser() -> ArgumentParser:
    """The whole command line."""
    top = ArgumentParser(
        prog="syncret", description=DESCRIPTION, epilog=EPILOG, formatter_class=Formatter, allow_abbrev=False
    )
    top.add_argument("-V", "--version", action=Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(
        title="commands", metavar="COMMAND", required=True, dest="command", parser_class=Command
    )
    _validate(commands)
    _plan(commands)
    _sync(commands)
    _run(commands)
    _status(commands)
    _explain(commands)
    _refresh(commands)
    _simulate(commands)
    _template(commands)
    _providers(commands)
    _export(commands)
    return top


def _validate(commands: Commands) -> None:
    command = add(
        commands,
        "validate",
        "tell every problem of every manifest, and its remedy",
        "Names file, line and field. Judges each document as an API server and the admission webhooks "
        "would. Works offline: nothing is read but the files. An unknown field, and a reference to an "
        "object that is not among the files, are warnings only. Exit code 2 where anything is an error.",
        "syncret validate -f manifests/",
        "syncret validate -f store.yaml -f secrets/ -o json",
    )
    manifests(command)
    output(command, "text", "json")
    show_values(command)


def _plan(commands: Commands) -> None:
    command = add(
        commands,
        "plan",
        "show what a sync would change: names of keys, no values",
        "Reads from the stores, writes nothing.",
        "syncret plan -f manifests/ --output-dir out",
    )
    manifests(command)
    output_dir(command, "compare with the files that stand there")
    command.add_argument(
        "--state", type=path, metavar="FILE", help="compare with the state of earlier passes"
    )
    output(command, "text", "json")
    settings(command)


def _sync(commands: Commands) -> None:
    command = add(
        commands,
        "sync",
        "bring everything in step once, then exit",
        "With the same --state, several passes are one life: what is gone from the manifests is cleaned "
        "up, and what is not due is not fetched. Exit code 1 where any resource failed.",
        "syncret sync -f manifests/ --output-dir out",
        "syncret sync -f manifests/ --output-dir out --state out.db -o json",
    )
    manifests(command)
    output_dir(command, "where each Secret becomes a folder of files: DIR/<namespace>/<name>/<key>")
    command.add_argument(
        "--state",
        type=path,
        metavar="FILE",
        help="what survives from one pass to the next (default: nothing)",
    )
    output(command, "table", "json", "yaml")
    show_values(command)
    settings(command)


def _run(commands: Commands) -> None:
    command = add(
        commands,
        "run",
        "keep everything in step: the daemon",
        "Follows the manifests, refreshes what is due, retries what failed. SIGTERM and Ctrl-C let what is "
        "under way finish and exit with 0, a second one ends at once; SIGHUP reads the settings again.",
        "syncret run -f manifests/ --output-dir out --state out.db --socket out.sock",
        "syncret run --config /etc/syncret/syncret.yaml",
    )
    manifests(command, required=False)
    output_dir(command, "where each Secret becomes a folder of files (setting outputDir)")
    command.add_argument(
        "--state", type=path, metavar="FILE", help="what survives a restart (setting stateFile)"
    )
    command.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help="where /metrics, /healthz, /readyz and /status are served; port 0: any, empty: nowhere",
    )
    command.add_argument(
        "--socket", metavar="PATH", help="where status, explain and refresh ask; empty: nowhere"
    )
    settings(command)


def _status(commands: Commands) -> None:
    command = add(
        commands,
        "status",
        "show how a running daemon is doing, object by object",
        "Exit code 1 where any object is not in order, 3 where no daemon answers.",
        "syncret status",
        "syncret status --failing -o json",
    )
    command.add_argument("-n", "--namespace", metavar="NAMESPACE", help="only the objects of one namespace")
    command.add_argument("--failing", action="store_true", help="only what is not in order")
    ask(command)


def _explain(commands: Commands) -> None:
    command = add(
        commands,
        "explain",
        "tell where each key of an object comes from, and what is next",
        "For each key: the store, the remote key and property, the entry of the spec, the steps that "
        "changed it. Then the last error with its remedy, and when the next attempt is, and why then. "
        "Kinds have short names: es, ps, ss, css, ces, cps.",
        "syncret explain ExternalSecret/database",
        "syncret explain es/database -n payments",
    )
    object_named(command)
    ask(command)


def _refresh(commands: Commands) -> None:
    command = add(
        commands,
        "refresh",
        "let a running daemon refresh an object now, due or not",
        "For when a value was rotated just now. Of a ClusterExternalSecret, all that it made is refreshed. "
        "The wish stands until it succeeds. What is made only once (refreshPolicy CreatedOnce) is not made "
        "again.",
        "syncret refresh ExternalSecret/database",
        "syncret refresh es/database -n payments",
    )
    object_named(command)
    ask(command)


def _simulate(commands: Commands) -> None:
    command = add(
        commands,
        "simulate",
        "run manifests through time in a simulated cluster",
        "For trying policies, rotations and outages before they are real. Works offline: the clock, the "
        "API server and the secret managers are simulated, the engine is the real one.",
        "syncret simulate scenario.yaml",
    )
    command.add_argument("scenario", nargs="+", metavar="FILE", help="a file of scenarios (YAML or JSON)")
    output(command, "json", "yaml")
    show_values(command)


def _template(commands: Commands) -> None:
    command = add(
        commands,
        "template",
        "render one Go template",
        "Writes exactly what the template renders. Works offline. Exit code 1 where the template does not "
        "parse or does not render; the message says line and column.",
        "syncret template app.conf.tpl --data secret.yaml",
        "syncret template --check app.conf.tpl",
        "echo '{{ .user | upper }}' | syncret template --data values.json",
    )
    command.add_argument("file", nargs="?", default="-", metavar="FILE", help="the template; -: the input")
    command.add_argument(
        "--data",
        type=path,
        metavar="FILE",
        help="what `.` is: YAML or JSON, or the manifest of a Secret or ConfigMap",
    )
    command.add_argument(
        "--missing-key",
        choices=("error", "default", "zero"),
        default="error",
        help="what a key that the data lacks is: an error (default), `<no value>`, or the zero of its type",
    )
    command.add_argument(
        "--delims", type=delimiters, default=("{{", "}}"), metavar="L,R", help="other delimiters than {{,}}"
    )
    command.add_argument(
        "--functions",
        choices=("all", "go"),
        default="all",
        help="all of an ExternalSecret's template (default), or those of text/template only",
    )
    command.add_argument("--check", action="store_true", help="parse only, print nothing")


def _providers(commands: Commands) -> None:
    command = add(
        commands,
        "providers",
        "list secret managers and generators, and what each can do",
        "`spec only` means that manifests for it are judged and simulated, but that it cannot be reached.",
        "syncret providers",
    )
    output(command, "text", "json")


def _export(commands: Commands) -> None:
    command = add(
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
