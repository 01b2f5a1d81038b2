"""`syncret providers`: what each provider and generator supports, read from their code."""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from inspect import unwrap
from types import UnionType
from typing import Any, Final, get_args, get_type_hints

import msgspec

from syncret.config.catalog import BrokenEntry
from syncret.daemon.cli.columns import Column, Row, print_table
from syncret.daemon.cli.exit_codes import FAILED, OK
from syncret.daemon.cli.printing import print_json
from syncret.daemon.cli.terminal import print_error
from syncret.providers.registry import Registry

CAPABILITIES: Final = {"fetch": "read", "find": "find", "push": "push", "delete": "delete", "probe": "probe"}
"""Methods of the provider protocols, and their column in the table."""


class ProviderRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One provider; if it is not `reachable`, syncret knows only its spec."""

    name: str
    reachable: bool
    can: tuple[str, ...]
    batch: int
    maintained: bool


class GeneratorRow(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One kind of generators; `cleansUp` if it removes what it created in another system."""

    kind: str
    reachable: bool
    cleans_up: bool
    maintained: bool


def run(options: Namespace) -> int:
    """Print both tables, and a line for each entry that is broken; exit 1 if there is one."""
    registry = Registry()
    broken = list(registry.broken())
    providers, generators = list(provider_rows(registry)), list(generator_rows(registry))
    if options.output == "json":
        document = {"providers": providers, "generators": generators}
        print_json(msgspec.to_builtins(document), indent=2)
    else:
        _print_tables(providers, generators)
    for error in broken:
        print_error(error, error.hint)
    return FAILED if broken else OK


def _print_tables(providers: Iterable[ProviderRow], generators: Iterable[GeneratorRow]) -> None:
    heads = ("PROVIDER", *(name.upper() for name in CAPABILITIES.values()), "BATCH")
    print_table(_columns(*heads), [Row(_provider_cells(row)) for row in providers])
    sys.stdout.write("\n")
    print_table(
        _columns("GENERATOR", "DRAWS", "CLEANS UP"), [Row(_generator_cells(row)) for row in generators]
    )


def _columns(*titles: str) -> tuple[Column, ...]:
    return (*map(Column, titles), Column("NOTE", "message"))


def provider_rows(registry: Registry) -> Iterator[ProviderRow]:
    """Every provider that is not broken, by name."""
    for name in sorted(registry.store_names(), key=str.lower):
        try:
            provider = registry.provider(name)
        except BrokenEntry:
            continue
        can = capabilities(provider.open) if provider.open is not None else ()
        yield ProviderRow(
            name=name,
            reachable=provider.open is not None,
            can=can,
            batch=provider.batch_size,
            maintained=provider.spec.maintained,
        )


def generator_rows(registry: Registry) -> Iterator[GeneratorRow]:
    """Every generator that is not broken, by kind."""
    for kind in sorted(registry.generator_kinds(), key=str.lower):
        try:
            generator = registry.generator_type(kind)
        except BrokenEntry:
            continue
        yield GeneratorRow(
            kind=kind,
            reachable=generator.generate is not None,
            cleans_up=generator.cleanup is not None,
            maintained=generator.spec.maintained,
        )


def capabilities(opener: Callable[..., Any]) -> tuple[str, ...]:
    """What a client can do, according to the return annotation of the provider's `open`."""
    try:
        hints = get_type_hints(unwrap(opener))
    except (NameError, ImportError):  # in another package: a name for type checkers alone, or no library
        return ()
    given = hints.get("return", object)
    client = next(iter(get_args(given)), given)
    clients = get_args(client) if isinstance(client, UnionType) else (client,)
    return tuple(
        word for method, word in CAPABILITIES.items() if any(hasattr(one, method) for one in clients)
    )


def note(row: ProviderRow | GeneratorRow) -> str:
    """The restrictions of a provider or generator."""
    notes = [] if row.reachable else ["spec only"]
    return ", ".join(notes if row.maintained else [*notes, "not maintained upstream"])


def _provider_cells(row: ProviderRow) -> tuple[str, ...]:
    can = ["yes" if word in row.can else "-" for word in CAPABILITIES.values()]
    batch = str(row.batch) if row.reachable and row.batch > 1 else "-"
    return row.name, *can, batch, note(row)


def _generator_cells(row: GeneratorRow) -> tuple[str, ...]:
    draws, cleans = ("yes" if each else "-" for each in (row.reachable, row.cleans_up))
    return row.kind, draws, cleans, note(row)
