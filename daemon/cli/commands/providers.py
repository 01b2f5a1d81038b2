"""`syncret providers`: what each provider and generator supports, read from their code."""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from types import UnionType
from typing import Any, Final, get_args, get_type_hints

import msgspec

from syncret.daemon.cli.exit_codes import OK
from syncret.daemon.cli.printing import print_json
from syncret.daemon.cli.terminal import print_columns
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
    """Print both tables."""
    registry = Registry()
    providers, generators = list(provider_rows(registry)), list(generator_rows(registry))
    if options.output == "json":
        document = {"providers": providers, "generators": generators}
        print_json(msgspec.to_builtins(document), indent=2)
        return OK
    head = ("PROVIDER", *(name.upper() for name in CAPABILITIES.values()), "BATCH", "NOTE")
    print_columns(head, [_provider_cells(row) for row in providers])
    sys.stdout.write("\n")
    print_columns(("GENERATOR", "DRAWS", "CLEANS UP", "NOTE"), [_generator_cells(row) for row in generators])
    return OK


def provider_rows(registry: Registry) -> Iterator[ProviderRow]:
    """Every provider, by name."""
    for name in sorted(registry.store_names(), key=str.lower):
        provider = registry.provider(name)
        can = capabilities(provider.open) if provider.open is not None else ()
        yield ProviderRow(
            name=name,
            reachable=provider.open is not None,
            can=can,
            batch=provider.batch_size,
            maintained=provider.spec.maintained,
        )


def generator_rows(registry: Registry) -> Iterator[GeneratorRow]:
    """Every generator, by kind."""
    for kind in sorted(registry.generator_kinds(), key=str.lower):
        generator = registry.generator_type(kind)
        yield GeneratorRow(
            kind=kind,
            reachable=generator.generate is not None,
            cleans_up=generator.cleanup is not None,
            maintained=generator.spec.maintained,
        )


def capabilities(opener: Callable[..., Any]) -> tuple[str, ...]:
    """What a client can do, according to the return annotation of the provider's `open`."""
    hints = get_type_hints(getattr(opener, "__wrapped__", opener))
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
