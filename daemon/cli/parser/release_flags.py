"""The command line of `syncret release`."""

from argparse import ArgumentTypeError
from typing import Final

from syncret.daemon.cli.parser.options import Commands, add, output, show_values, source

_TAGS: Final = ("env", "file", "secret")


def add_release(commands: Commands) -> None:
    """Add the command."""
    command = add(
        commands,
        "release",
        "render a module and its values, with sensitive fields by type",
        "A Module says which fields are sensitive and where they go, a Release what they are or where they "
        "live, a Platform which store and how strict. Secrets, ExternalSecrets and a Deployment come out. "
        "Values are redacted: `--show-values` prints what kubectl can apply. Works offline, but for what "
        "--resolve allows. Exit code 2 if a document has an error, 1 if the source of a tag did not answer; "
        "then nothing is printed but the problems.\n\n"
        "skeleton  a values file with exactly the sensitive fields of a module\n"
        "lint      plain fields that look sensitive; exit code 0, with --strict 2 if there are any",
        "syncret release -f module.yaml -f values.yaml -f platform.yaml",
        "syncret release -f module.yaml -f values.yaml --resolve env,file --show-values",
        "syncret release -f module.yaml -f enc.yaml --output-dir deploy --encrypt-to age1...",
        "syncret release skeleton -f module.yaml > values.yaml",
        "syncret release lint --strict -f module.yaml",
    )
    command.add_argument(
        "action", nargs="?", choices=("skeleton", "lint"), help="instead of rendering (default: render)"
    )
    command.add_argument(
        "-f",
        "--file",
        action="append",
        type=source,
        required=True,
        metavar="PATH",
        help="a file or folder of documents (.yaml, .yml, .json) or of CUE, or - for standard input; "
        "may be repeated",
    )
    output(command, "yaml", "json")
    show_values(command)
    command.add_argument(
        "--resolve",
        type=_kinds,
        action="extend",
        default=[],
        metavar="KINDS",
        help=f"resolve tags of these kinds: {','.join(_TAGS)} (default: none)",
    )
    command.add_argument(
        "--output-dir",
        metavar="DIR",
        help="write a file for each manifest, with mode 0600, instead of printing them; "
        "values need --encrypt-to or --show-values",
    )
    command.add_argument(
        "--encrypt-to",
        action="append",
        default=[],
        metavar="RECIPIENT",
        help="encrypt Secrets in SOPS's format for this recipient of age; may be repeated",
    )
    command.add_argument(
        "--identity",
        default="",
        metavar="WHERE",
        help="the identity of age that decrypts files in SOPS's format: a file, or a tag "
        "(default: the variables SOPS_AGE_KEY, SOPS_AGE_KEY_FILE)",
    )
    command.add_argument("--strict", action="store_true", help="refuse every literal value, tags too")


def _kinds(text: str) -> list[str]:
    kinds = text.split(",")
    unknown = [kind for kind in kinds if kind not in _TAGS]
    if unknown:
        raise ArgumentTypeError(f"takes {', '.join(_TAGS)}, separated by commas")
    return kinds
