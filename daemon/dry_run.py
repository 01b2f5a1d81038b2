"""Providers and generators for `syncret plan`: they read as usual, and report writes without making them."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, NoReturn

from msgspec.structs import replace

from syncret.config.fields import Model
from syncret.config.meta import Document, ObjectRef
from syncret.providers.contract import Client, Generated, Generator, OpenContext, Provider
from syncret.providers.errors import Denied
from syncret.providers.pushes import PushItem, RemoteTarget

OnWrite = Callable[[str, ObjectRef, RemoteTarget], None]
"""Called for each write that is not made: `push` or `delete`, the store, and the place in it."""


class DryRunClient:
    """A client that reads as the real one does and writes nothing.

    It carries the real one's methods as attributes of its own: from Python 3.12 on, `isinstance` with a
    protocol does not see what `__getattr__` would answer.
    """

    def __init__(self, client: Client, store: ObjectRef, on_write: OnWrite) -> None:
        self._store = store
        self._on_write = on_write
        for name in dir(client):
            if not name.startswith("_") and not hasattr(type(self), name):
                setattr(self, name, getattr(client, name))

    async def push(self, item: PushItem) -> None:
        """Report the push; write nothing."""
        self._on_write("push", self._store, RemoteTarget(item.remote_key, item.property))

    async def delete(self, target: RemoteTarget) -> None:
        """Report the deletion; delete nothing."""
        self._on_write("delete", self._store, target)


def dry_run_provider(on_write: OnWrite) -> Callable[[ObjectRef, Provider[Any]], Provider[Any]]:
    """Returns a function that replaces the clients of a provider by ones that write nothing."""

    def substitute(store: ObjectRef, provider: Provider[Any]) -> Provider[Any]:
        real = provider.open
        if real is None:
            return provider

        @asynccontextmanager
        async def open_dry_run(spec: Model, context: OpenContext) -> AsyncGenerator[Client, None]:
            async with real(spec, context) as client:
                yield DryRunClient(client, store, on_write)

        return replace(provider, open=open_dry_run)

    return substitute


def without_identity(refusal: str) -> Callable[[Provider[Any]], Provider[Any]]:
    """Returns a function that makes a provider refuse to use the daemon's identity and its files."""

    def refuse(*_: object) -> NoReturn:
        raise Denied(refusal, hint="only the daemon can tell: `syncret status --kubernetes` has its verdict")

    async def refuse_file(*_: object, **__: object) -> NoReturn:
        refuse()

    def substitute(provider: Provider[Any]) -> Provider[Any]:
        real = provider.open
        if real is None:
            return provider

        def opened(spec: Model, context: OpenContext) -> AbstractAsyncContextManager[Client]:
            return real(spec, replace(context, ambient=refuse, read_file=refuse_file))

        return replace(provider, open=opened)

    return substitute


def without_generating(refusal: str) -> Callable[[Generator[Any]], Generator[Any]]:
    """Returns a function that replaces a generator that calls other systems by one that raises Denied."""

    async def generate(_spec: Model, _context: OpenContext) -> NoReturn:
        raise Denied(refusal, hint="it generates when the manifest is applied")

    def substitute(generator: Generator[Any]) -> Generator[Any]:
        return generator if generator.local else replace(generator, generate=generate)

    return substitute


def dry_run_generator(generator: Generator[Any]) -> Generator[Any]:
    """The generator, except that it removes at once what it creates and cleans up nothing else."""
    real, cleanup = generator.generate, generator.cleanup
    if real is None or cleanup is None:
        return generator

    async def generate(spec: Model, context: OpenContext) -> Generated:
        generated = await real(spec, context)
        if generated.state is not None:
            await cleanup(spec, generated.state, context)
        return Generated(generated.values)

    async def no_cleanup(_spec: Model, _state: Document, _context: OpenContext) -> None:
        """Clean up nothing: the record of an earlier sync stays in use."""

    return replace(generator, generate=generate, cleanup=no_cleanup)
