"""Building blocks of the command line: commands with examples, and flags that several commands share."""

import sys
from argparse import Action, ArgumentParser, ArgumentTypeError, HelpFormatter, Namespace
from collections.abc import Sequence
from typing import Any, Final, Protocol

WIDTH: Final = 88
KIND_NAME: Final = "KIND/NAME"
NAME: Final = "NAME"
NAMESPACE: Final = "NAMESPACE"
DEFAULT_NAMESPACE: Final = "default"

DEFAULTS: Final = {
    "outputDir": "/run/syncret/secrets",
    "stateFile": "/var/lib/syncret/state.db",
    "listen": "127.0.0.1:9847",
    "socket": "/run/syncret/control.sock",
}
"""The defaults of some settings: to import all settings would take longer than to print the help."""


class Commands(Protocol):
    """What `add_subparsers` returns."""

    def add_parser(self, name: str, **options: Any) -> ArgumentParser: ...  # noqa: ANN401  # as argparse has it


class Version(Action):
    """`--version`. Finding the version out is slow, so that is done only for this flag."""

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        del namespace, values, option_string
        from syncret.config.version import version

        sys.stdout.write(f"syncret {version()}\n")
        parser.exit()


class Command(ArgumentParser):
    """The parser of one command; the error for an unknown flag shows its usage and a similar flag."""

    def parse_known_args(  # type: ignore[override]  # argparse has overloads for namespaces of other types
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> tuple[Namespace, list[str]]:
        if args is not None and self.get_default("eso") is not None:
            from syncret.daemon.cli.parser.eso_flags import passed_over  # of one command alone

            args, dropped = passed_over(args)
            self.set_defaults(eso_dropped=dropped)
        parsed, unknown = super().parse_known_args(args, namespace or Namespace())
        if unknown and not unknown[0].startswith("-") and getattr(parsed, "name", "") is None:
            parsed.name = unknown.pop(0)  # in `es -n payments database`, argparse no longer expects it
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._suggestion(unknown[0])}")
        return parsed, unknown

    def _suggestion(self, unknown: str) -> str:
        if not unknown.startswith("--"):
            return ""
        from syncret.config.settings import Settings  # imported only for a mistake
        from syncret.config.spelling import by_similarity

        name, _, value = unknown.partition("=")
        head, *rest = name.removeprefix("--").split("-")
        setting = head + "".join(map(str.capitalize, rest))
        if setting in Settings.__struct_encode_fields__ and self.get_default("set") is not None:
            return f" ({setting} is a setting: --set {setting}={value or 'VALUE'})"
        flags = [flag for action in self._actions for flag in action.option_strings if flag.startswith("--")]
        near, _ = by_similarity(name, flags)
        return f" (did you mean {near[0]}?)" if near else ""


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


def add(commands: Commands, name: str, summary: str, detail: str, *examples: str) -> ArgumentParser:
    """Add a command with its help: one line, some paragraphs, examples."""
    text = f"{summary[0].upper()}{summary[1:]}.\n\n{detail}"
    shown = "examples:\n" + "\n".join(f"  {example}" for example in examples) if examples else None
    added: ArgumentParser = commands.add_parser(
        name, help=summary, description=text, epilog=shown, formatter_class=Formatter, allow_abbrev=False
    )
    added.set_defaults(module=name)
    return added


def delimiters(text: str) -> tuple[str, str]:
    """Parse `L,R`, both delimiters of a template."""
    left, comma, right = text.partition(",")
    if not (left and comma and right):
        raise ArgumentTypeError("must be two delimiters with a comma between them, such as <<,>>")
    return left, right


def duration(text: str) -> float:
    """Parse a duration such as 90s. Only a command line that has one imports what reads it."""
    from syncret.config.durations import DurationError, parse_duration

    try:
        return parse_duration(text)
    except DurationError as error:
        raise ArgumentTypeError(str(error)) from None


def path(text: str) -> str:
    """Parse a path. Empty text, such as that of an unset variable, would mean the current folder."""
    if not text:
        raise ArgumentTypeError("must not be empty")
    return text


def source(text: str) -> str:
    """Parse a path of manifests; a dash means standard input."""
    return "/dev/stdin" if text == "-" else path(text)


def manifests(command: ArgumentParser, *, followed: bool = False) -> None:
    """`-f`. Manifests that are `followed` cannot be a pipe."""
    more = "" if followed else ", or - for standard input"
    command.add_argument(
        "-f",
        "--manifests",
        action="append",
        type=source,
        metavar="PATH",
        help=f"a file or folder of manifests (.yaml, .yml, .json){more}; may be repeated (setting manifests)",
    )


def settings(command: ArgumentParser) -> None:
    """`--config` and `--set`."""
    group = command.add_argument_group("settings (`syncret export settings` lists them all)")
    group.add_argument("--config", type=path, metavar="FILE", help="a settings file (YAML; default: none)")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="one setting; overrides the file and the environment, where it is SYNCRET_NAME (egress.deny: "
        "SYNCRET_EGRESS_DENY); may be repeated",
    )


def output(command: ArgumentParser, *choices: str) -> None:
    """`-o`, the first choice being the default."""
    command.add_argument(
        "-o", "--output", choices=choices, default=choices[0], help=f"the format (default: {choices[0]})"
    )


def output_dir(command: ArgumentParser, text: str) -> None:
    """`--output-dir`."""
    command.add_argument("--output-dir", type=path, metavar="DIR", help=text)


def allow_empty(command: ArgumentParser) -> None:
    """`--allow-empty`."""
    command.add_argument(
        "--allow-empty",
        action="store_true",
        help="delete what earlier passes (--state) know from a path that holds no manifests any more; "
        "without this that is an error, because it may be an empty checkout",
    )


def show_values(command: ArgumentParser) -> None:
    """`--show-values`."""
    command.add_argument(
        "--show-values", action="store_true", help="print secret values; without it they are redacted"
    )


def object_named(command: ArgumentParser, *, or_field: bool = False) -> None:
    """KIND/NAME, or KIND and NAME, and `-n`; or a field."""
    text = "such as ExternalSecret/database, es/database, or es/payments/database with its namespace"
    if or_field:
        either = command.add_mutually_exclusive_group(required=True)
        either.add_argument("object", metavar=KIND_NAME, nargs="?", help=text)
        either.add_argument("--field", metavar="KIND.PATH", help="a field of manifests instead of an object")
    else:
        command.add_argument("object", metavar=KIND_NAME, help=text)
    command.add_argument("name", metavar=NAME, nargs="?", help="the name, if KIND stands alone before it")
    command.add_argument(
        "-n",
        "--namespace",
        metavar=NAMESPACE,
        help=f"its namespace (default: {DEFAULT_NAMESPACE}; in a cluster that of the context)",
    )


def daemon_options(command: ArgumentParser, *more_formats: str) -> None:
    """The flags of the commands that send a request to the daemon."""
    command.add_argument(
        "--socket",
        metavar="PATH",
        help=f"the daemon's control socket (setting socket, default: {DEFAULTS['socket']})",
    )
    output(command, "text", "json", *more_formats)
    settings(command)


def in_cluster(command: ArgumentParser) -> None:
    """`--kubernetes` and `--context` of the commands that ask an API server themselves."""
    command.add_argument(
        "--kubernetes",
        action="store_const",
        const=True,
        help="ask the API server of a cluster, as whom your kubeconfig says you are",
    )
    command.add_argument(
        "--context",
        metavar="NAME",
        help="with --kubernetes: a context of the kubeconfig (setting context, default: its current one)",
    )
