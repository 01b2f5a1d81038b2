"""`syncret export`: schemas, CRDs, manifests, rights, settings, a dashboard, completion, the man page."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from syncret.config.catalog import BrokenEntry
from syncret.config.errors import ConfigError
from syncret.config.resources.kinds import HOST_KINDS, OPERATOR_KINDS, Kinds
from syncret.daemon.cli.exit_codes import FAILED, INVALID, OK
from syncret.daemon.cli.installation import INSTALLATION_FLAGS
from syncret.daemon.cli.operator_files import OWN_FLAGS
from syncret.daemon.cli.terminal import print_error

if TYPE_CHECKING:  # settings are slow to import
    from syncret.config.settings import Group

FLAGS: Final = {
    "crds": {"serve_v1beta1": "--serve-v1beta1", "compat": "--compat", "operator": "--operator"},
    "manifests": {**INSTALLATION_FLAGS, "configuration": "--configuration", **OWN_FLAGS},
    "operator": {"bundle": "--bundle"},
    "polkit": {"config": "--config", "user": "--user", "check": "--check"},
}
"""The flags of each document, by their attributes."""

SHARED: Final = {"operator": OWN_FLAGS, "polkit": ("configuration",)}
"""The flags of `manifests` that another document has, too."""


def run(options: Namespace) -> int:
    """Print the document; exit 2 for an unknown kind or shell, 1 for a broken provider in a schema.

    1, too, if a right is missing that was asked for.
    """
    try:
        return _print(options)
    except _Wrong as wrong:
        print_error(wrong, wrong.hint)
        return INVALID
    except ConfigError as error:
        for problem in error.problems:
            print_error(problem)
        return INVALID
    except BrokenEntry as broken:
        print_error(broken, broken.hint)
        return FAILED


def _print(options: Namespace) -> int:
    what: str = options.what
    name: str | None = options.name
    _check_flags(options)
    if what == "schema":
        _print_schema(name)
    elif what == "completion":
        _print_completion(name)
    elif name is not None:
        raise _Wrong(f"{what} takes no {name}", f"write: syncret export {what}")
    elif what == "polkit":
        from syncret.daemon.cli.polkit import export_polkit

        return export_polkit(options)
    elif what == "crds":
        _print_crds(serve_v1beta1=options.serve_v1beta1, compat=options.compat, operator=options.operator)
    elif what == "manifests":
        _print_manifests(options)
    elif what == "operator":
        _export_operator(options)
    elif what == "settings":
        sys.stdout.writelines(settings_lines())
    elif what == "dashboard":
        _print_dashboard()
    else:
        _print_man()
    return OK


def _check_flags(options: Namespace) -> None:
    """Each flag belongs to one document."""
    for document, flags in FLAGS.items():
        for attribute, flag in flags.items():
            is_shared = attribute in SHARED.get(options.what, ())
            if document != options.what and not is_shared and getattr(options, attribute):
                raise _Wrong(f"{options.what} takes no {flag}", f"write: syncret export {document} {flag}")


class _Wrong(Exception):
    """There is no such document, kind or shell."""

    def __init__(self, message: str, hint: str) -> None:
        self.hint = hint
        super().__init__(message)


def settings_lines(group: "type[Group] | None" = None) -> Iterator[str]:
    """A settings file with every setting and its default, commented out; groups are nested."""
    from syncret.config.settings_table import describe

    yield "# Settings of syncret. Each can also be set in the environment, or by --set NAME=VALUE.\n"
    yield '# A duration is written as 1h30m or as a number of seconds, a file mode in octal: "0640".\n'
    above: list[str] = []
    for setting in describe(group) if group else describe():
        *groups, name = setting.name.split(".")
        for depth, each in enumerate(groups):
            if above[: depth + 1] != groups[: depth + 1]:
                yield f"\n{'  ' * depth}#{each}:\n"
        above, indent = groups, "  " * len(groups)
        yield f"\n{indent}# {setting.meaning} ({setting.syntax})\n"
        yield f"{indent}# Example: {setting.example}\n{indent}# {setting.variable}\n"
        yield f"{indent}#{name}: {setting.default}\n"


def _print_schema(name: str | None) -> None:
    from syncret.config.schema.openapi import openapi
    from syncret.config.spelling import did_you_mean
    from syncret.daemon.cli.printing import print_json
    from syncret.providers.registry import Registry

    registry = Registry()
    kinds = Kinds(registry)
    known = {each.kind: each for each in kinds.known()}
    kind = kinds.find(known[name]) if name in known else None
    if kind is None:
        raise _Wrong(f"there is no kind {name or ''}".rstrip(), did_you_mean(name or "", sorted(known)))
    print_json(openapi(kind.model, registry, examples=True), indent=2)


def _print_crds(*, serve_v1beta1: bool, compat: bool, operator: bool) -> None:
    from syncret.config.schema.crds import crd
    from syncret.daemon.cli.printing import print_yaml
    from syncret.providers.registry import Registry

    registry = Registry()
    kinds = Kinds(registry)
    of_hosts = [each.group_kind for each in HOST_KINDS]
    for name in [each.group_kind for each in OPERATOR_KINDS] if operator else [*kinds.names(), *of_hosts]:
        kind = kinds.find(name)
        if kind is not None and kind.group:
            print_yaml(crd(kind, registry, serve_v1beta1=serve_v1beta1, compat=compat))


def _print_manifests(options: Namespace) -> None:
    from syncret.daemon.cli.installation import installation_of
    from syncret.daemon.cli.operator_files import installed_by
    from syncret.daemon.cli.printing import print_yaml
    from syncret.daemon.install.render import render
    from syncret.providers.registry import Registry

    if options.configuration:
        if len(options.configuration) > 1:
            raise _Wrong("manifests takes one -f", "write the configuration into one file")
        documents = installed_by(options, FLAGS["manifests"], Registry())
    elif options.bitwarden_image:
        flag = "--bitwarden-image"
        raise _Wrong(f"{flag} has no effect without --configuration", f"leave {flag} out, or name a file")
    else:
        documents = render(installation_of(options), Registry())
    for document in documents:
        print_yaml(document)


def _export_operator(options: Namespace) -> None:
    from pathlib import Path

    from syncret.daemon.cli.operator_files import environment_of, write_bundle
    from syncret.daemon.cli.printing import print_yaml
    from syncret.daemon.install.operator.own import own
    from syncret.providers.registry import Registry

    environment = environment_of(options)
    if options.namespace:
        environment = environment._replace(namespace=options.namespace)
    if options.bundle:
        write_bundle(Path(options.bundle), environment, Registry())
        return
    for document in own(environment, Registry()):
        print_yaml(document)


def _print_completion(shell: str | None) -> None:
    from syncret.daemon.cli.parser.arguments import parser
    from syncret.daemon.cli.parser.completion import SHELLS

    if shell not in SHELLS:
        raise _Wrong(f"no completion for {shell or 'no shell'}", f"write one of {', '.join(SHELLS)}")
    sys.stdout.write(SHELLS[shell](parser()))


def _print_dashboard() -> None:
    from syncret.daemon.cli.printing import print_json
    from syncret.daemon.dashboard.grafana import dashboard

    print_json(dashboard(), indent=2)


def _print_man() -> None:
    from syncret.config.version import version
    from syncret.daemon.cli.parser.arguments import parser
    from syncret.daemon.cli.parser.man import man

    sys.stdout.write(man(parser(), version()))
