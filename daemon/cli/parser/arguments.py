"""The command line: every command with its flags, help and examples. It imports nothing that is slow.

Completion, the man page and docs/reference/cli.md are generated from this parser.
"""

from argparse import ArgumentParser
from collections.abc import Callable
from importlib import import_module
from typing import Final

from syncret.daemon.cli.parser.options import (
    DEFAULTS,
    NAMESPACE,
    Command,
    Commands,
    Formatter,
    Version,
    add,
    allow_empty,
    delimiters,
    in_cluster,
    manifests,
    output,
    output_dir,
    path,
    settings,
    show_values,
)

DESCRIPTION: Final = """\
Keeps secrets in sync between secret managers and the places that use them.

You write manifests (YAML): a SecretStore says where values come from, an ExternalSecret says which \
of them make up one Secret. syncret fetches them, writes them as files, and keeps them up to date.
"""

EPILOG: Final = """\
examples:
  syncret demo                                  what does it do? try it on samples
  syncret validate -f manifests/                what is wrong with my manifests?
  syncret plan -f manifests/ --output-dir out   what would a sync change?
  syncret sync -f manifests/ --output-dir out   bring everything into sync once
  syncret exec -f manifests/ -- ./server        run a program with the values as variables
  syncret run -f manifests/ --output-dir out    keep everything in sync
  syncret status                                how is the running daemon doing?
  syncret explain ExternalSecret/database       where does each key come from?
  syncret migrate                               what would a takeover from ESO change?

`syncret COMMAND --help` describes each command.

exit codes:
  0  everything is in order
  1  a resource failed
  2  a manifest or the usage is wrong
  3  the state or the target cannot be used, or no daemon answers
"""


def parser(command: str = "") -> ArgumentParser:
    """The whole command line; given the name of a command, only its flags are made, which is faster."""
    top = ArgumentParser(
        prog="syncret", description=DESCRIPTION, epilog=EPILOG, formatter_class=Formatter, allow_abbrev=False
    )
    top.add_argument("-V", "--version", action=Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(
        title="commands", metavar="COMMAND", required=True, dest="command", parser_class=Command
    )
    for name in (command,) if command in _COMMANDS else _COMMANDS:
        _COMMANDS[name](commands)
    return top


def _from(module: str, name: str) -> Callable[[Commands], None]:
    """A command with flags in a module of its own, which is imported for it."""

    def added(commands: Commands) -> None:
        getattr(import_module(f"syncret.daemon.cli.parser.{module}_flags"), f"add_{name}")(commands)

    return added


def _demo(commands: Commands) -> None:
    command = add(
        commands,
        "demo",
        "run the daemon on sample manifests, to see what it does",
        "Writes the samples to a folder and runs the daemon on them, as `syncret run` would: an embedded "
        "store (no secret manager is needed), ExternalSecrets that read it, a generated password, a push "
        "back to the store. Prints what was written and what to try. Ctrl-C finishes the work in progress "
        "and exits with 0. Exit code 2 if the folder holds other files, 3 if it cannot be used.",
        "syncret demo",
        "syncret demo ~/syncret-demo",
    )
    command.add_argument(
        "folder",
        nargs="?",
        type=path,
        metavar="DIR",
        help="where manifests, files and state go; a later demo there goes on with them (default: a "
        "temporary folder, which is removed at the end)",
    )


def _validate(commands: Commands) -> None:
    command = add(
        commands,
        "validate",
        "report every problem in the manifests, with its remedy",
        "Names file, line and field. Errors are what an API server and the admission webhooks refuse. "
        "Warnings are what only fails when it is used (templates, regular expressions, paths, schedules, two "
        "owners of one target), unknown fields, and references to objects that are not among the files. "
        "Objects of other tools are passed over. Works offline: it reads nothing but the files. Exit code 2 "
        "if there is an error, with --strict also if there is a warning.",
        "syncret validate --strict -f manifests/",
        "syncret validate -f store.yaml -f secrets/ -o json",
    )
    manifests(command)
    command.add_argument("--strict", action="store_true", help="warnings count: exit code 2; for CI")
    output(command, "text", "json")
    show_values(command)
    settings(command)


def _plan(commands: Commands) -> None:
    command = add(
        commands,
        "plan",
        "show what a sync would change: key names, no values",
        "Reads from the stores, writes nothing. Exit code 1 if a resource would fail, 2 if a manifest is "
        "invalid or a path missing or empty, 3 if the state or the output folder cannot be used.\n\n"
        "With --kubernetes: what applying the files would do to a cluster. The API server says what it would "
        "refuse and change (server-side dry run), and the runs that follow are made in memory: which Secrets "
        "would be created, changed and deleted, key by key, and which stores are called. Live objects and "
        "stores are read with your kubeconfig and your rights, never with an identity of this machine: what "
        "only the daemon's own would open is `not known from here`. Nothing is written, and no generator "
        "creates anything. Exit code 2 if the API server refuses an object, 3 if it cannot be reached.",
        "syncret plan -f manifests/ --output-dir out",
        "syncret plan --kubernetes -f new.yaml -n payments",
    )
    manifests(command)
    command.add_argument(
        "-n",
        "--namespace",
        metavar=NAMESPACE,
        help="with --kubernetes: of objects that name none (default: that of the kubeconfig's context)",
    )
    in_cluster(command)
    output_dir(command, "compare with the files in this folder (setting outputDir; without: with no files)")
    command.add_argument(
        "--state",
        type=path,
        metavar="FILE",
        help="compare with the state of earlier passes (setting stateFile; without: with none)",
    )
    allow_empty(command)
    output(command, "text", "json")
    settings(command)


def _sync(commands: Commands) -> None:
    command = add(
        commands,
        "sync",
        "bring everything into sync once, then exit",
        "Passes with the same --state continue each other: what is gone from the manifests is cleaned up, "
        "and what is not due is not fetched. In the table, what failed comes first; -o wide cuts nothing, "
        "and adds file and line of the manifest. Exit code 1 if a resource failed, 2 if a manifest is "
        "invalid (the valid ones are synced) or a path is missing or empty, 3 if the state or the output "
        "folder cannot be used.",
        "syncret sync -f manifests/ --output-dir out",
        "syncret sync -f manifests/ --output-dir out --state out.db -o json",
    )
    manifests(command)
    output_dir(
        command,
        "where each Secret becomes a folder of files: DIR/<namespace>/<name>/<key> (setting outputDir; "
        "without: no file is written)",
    )
    command.add_argument(
        "--state",
        type=path,
        metavar="FILE",
        help="what survives from one pass to the next (setting stateFile; without: nothing)",
    )
    allow_empty(command)
    output(command, "table", "wide", "json", "yaml")
    show_values(command)
    settings(command)


def _run(commands: Commands) -> None:
    command = add(
        commands,
        "run",
        "run the daemon: keep everything in sync",
        "Watches the manifests, refreshes what is due, retries what failed. On a terminal it shows progress "
        "and a summary of the first pass, then the log. SIGTERM and Ctrl-C finish the work in progress and "
        "exit with 0, a second one ends at once; SIGHUP reads the settings again. The flags of ESO's "
        "controller are taken, too, as the settings that they are here. Exit code 2 if the settings are "
        "wrong, 3 if the state, the output folder, the address or the socket cannot be used.",
        "syncret run -f manifests/ --output-dir out --state out.db --socket out.sock",
        "syncret run --config /etc/syncret/syncret.yaml",
        "syncret run --kubernetes                      in a pod, or with your kubeconfig",
        "syncret run --kubernetes --namespace shop --output-dir /secrets   a sidecar",
    )
    manifests(command, followed=True)
    command.add_argument(
        "--kubernetes",
        action="store_const",
        const=True,
        help="work in a cluster instead of on manifests and files (setting kubernetes)",
    )
    command.add_argument(
        "--namespace",
        metavar="NAME",
        help="the only namespace of the cluster to work in (setting namespace, default: all)",
    )
    command.add_argument(
        "--selector",
        metavar="LABELS",
        help="labels of the ExternalSecrets that a sidecar delivers (setting selector, default: all)",
    )
    command.add_argument(
        "--only",
        choices=("controller", "webhook", "certificates"),
        help="with --kubernetes: one part alone, the others being processes of their own (default: the "
        "controller, and with the setting webhook.enabled all three)",
    )
    output_dir(
        command,
        f"where each Secret becomes a folder of files (setting outputDir, default: {DEFAULTS['outputDir']}; "
        "with --kubernetes: none, Secrets go to the API server)",
    )
    command.add_argument(
        "--state",
        type=path,
        metavar="FILE",
        help=f"what survives a restart (setting stateFile, default: {DEFAULTS['stateFile']})",
    )
    command.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help="address of /metrics, /healthz and /readyz; port 0: any free port, empty: none "
        f"(setting listen, default: {DEFAULTS['listen']})",
    )
    command.add_argument(
        "--socket",
        metavar="PATH",
        help="the socket for status, explain and refresh; empty: none "
        f"(setting socket, default: {DEFAULTS['socket']})",
    )
    command.add_argument(
        "--exit-with-process",
        type=path,
        metavar="PROGRAM",
        help="stop once this program has run beside the daemon, in a pod with shareProcessNamespace, and "
        "has been gone for 5s: for a pod that is to complete, where containers cannot be native sidecars",
    )
    settings(command)
    from syncret.daemon.cli.parser.eso_flags import eso_flags  # of this command alone

    eso_flags(command)


def _simulate(commands: Commands) -> None:
    command = add(
        commands,
        "simulate",
        "run manifests through time in a simulated cluster",
        "Use it to try policies, rotations and outages before they are real. Works offline: the clock, the "
        "API server and the secret managers are simulated; the engine is the real one. A scenario has "
        "apiVersion: syncret.dev/v1alpha1, kind: Scenario and spec.steps; a step may apply, patch and delete "
        "objects and advance the clock. The table shows step by step what was read and written, and what "
        "became of each object; -o json and -o yaml have the objects themselves. Exit code 0 if the "
        "scenarios ran, whatever the state of the objects, 2 if one is malformed; then none is run.",
        "syncret simulate scenario.yaml",
        "syncret simulate scenario.yaml -o json",
    )
    command.add_argument("scenario", nargs="+", metavar="FILE", help="a file of scenarios (YAML or JSON)")
    output(command, "table", "json", "yaml")
    show_values(command)


def _template(commands: Commands) -> None:
    command = add(
        commands,
        "template",
        "render one Go template",
        "Writes exactly what the template renders. Works offline. Exit code 1 if the template does not "
        "parse or does not render (the message names line and column), 2 if a file cannot be read.",
        "syncret template app.conf.tpl --data secret.yaml",
        "syncret template --check app.conf.tpl",
        "echo '{{ .user | upper }}' | syncret template --data values.json",
    )
    command.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="the template (default: -, standard input)"
    )
    command.add_argument(
        "--data",
        type=path,
        metavar="FILE",
        help="the value of `.`: YAML or JSON, or the manifest of a Secret or ConfigMap (default: no keys)",
    )
    command.add_argument(
        "--missing-key",
        choices=("error", "default", "zero"),
        default="error",
        help="what a missing key gives: an error (default), `<no value>`, or the zero value of its type",
    )
    command.add_argument(
        "--delims",
        type=delimiters,
        default=("{{", "}}"),
        metavar="L,R",
        help="the delimiters (default: {{,}})",
    )
    command.add_argument(
        "--functions",
        choices=("all", "go"),
        default="all",
        help="all functions of an ExternalSecret's template (default), or only those of text/template",
    )
    command.add_argument("--check", action="store_true", help="parse only, print nothing")
    settings(command)


def _evaluate(commands: Commands) -> None:
    command = add(
        commands,
        "evaluate",
        "show what a resource's dynamic exports make",
        "Takes one resource of any kind that has a spec.operatorSpec, and evaluates its expressions for "
        "Secrets and ConfigMaps, in either spelling (dynamicSecrets or secretExpressions, dynamicConfigMaps "
        "or configMapExpressions). Prints objects as manifests, problems on stderr; -o json has both, and "
        "which secrets the resource's secret APIs would be asked for. Works offline. Exit code 1 if an "
        "expression fails or its result is wrong, 2 if one is refused before anything would be called, or a "
        "file cannot be read.",
        "syncret evaluate -f redis.yaml --secrets keys.yaml",
        "syncret evaluate -f redis.yaml --secrets keys.yaml -o json --show-values",
    )
    command.add_argument(
        "-f", "--file", required=True, type=path, metavar="FILE", help="the manifest of the resource, or -"
    )
    command.add_argument(
        "--secrets",
        type=path,
        metavar="FILE",
        help="what its secret APIs would return: names and texts, or a Secret's manifest (default: none)",
    )
    output(command, "yaml", "json")
    show_values(command)
    settings(command)


def _providers(commands: Commands) -> None:
    command = add(
        commands,
        "providers",
        "list secret managers and generators, and what each can do",
        "`spec only` means that its manifests are validated and simulated, but syncret cannot connect to it. "
        "Those of other installed packages are listed, too. Exit code 1 if one of them cannot be used; it is "
        "named with the cause.",
        "syncret providers",
    )
    output(command, "text", "json")


_COMMANDS: Final[dict[str, Callable[[Commands], None]]] = {
    "demo": _demo,
    "validate": _validate,
    "plan": _plan,
    "sync": _sync,
    "exec": _from("exec", "exec"),
    "run": _run,
    "status": _from("asking", "status"),
    "explain": _from("asking", "explain"),
    "refresh": _from("asking", "refresh"),
    "cache": _from("cache", "cache"),
    "migrate": _from("migrate", "migrate"),
    "operator": _from("operator", "operator"),
    "simulate": _simulate,
    "template": _template,
    "evaluate": _evaluate,
    "release": _from("release", "release"),
    "providers": _providers,
    "export": _from("export", "export"),
}
"""In the order of the help."""
