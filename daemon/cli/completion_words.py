"""`syncret __complete WORD...`: what a shell may offer for the last word of a command line.

The scripts of `syncret export completion` ask it for names and namespaces of the running daemon. It is quick,
and silent where no daemon answers. It offers only words that no shell interprets.
"""

import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import Final

from syncret.daemon.cli.daemon_client import CommandError, request
from syncret.daemon.cli.parser.options import DEFAULT_NAMESPACE

TIMEOUT: Final = 1.0
"""Seconds that a person waits for an offer at most."""

_PLAIN: Final = re.compile(r"[\w.-]+(/[\w.-]+)*", re.ASCII)
_FLAGS: Final = {
    "-n": "namespace",
    "--namespace": "namespace",
    "--socket": "socket",
    "--config": "config",
    "--set": "set",
    "-o": "output",
    "--output": "output",
    "--field": "field",
    "--context": "context",
    "--timeout": "timeout",
}
"""The flags that take a value, of the commands that name an object."""


class Line:
    """A command line up to the word that is being typed: its flags, its arguments, and that word."""

    def __init__(self, words: Sequence[str]) -> None:
        self.options = Namespace(namespace=None, socket=None, config=None, set=[], output=None, field=None)
        self.arguments: list[str] = []
        *before, self.current = _joined(words)
        self.flag = ""
        for word in before[1:]:
            name, equals, value = word.partition("=")
            if self.flag:
                self._set(self.flag, word)
                self.flag = ""
            elif name in _FLAGS and equals:
                self._set(_FLAGS[name], value)
            elif word.startswith("-"):
                self.flag = _FLAGS.get(word, "")
            else:
                self.arguments.append(word)

    def _set(self, name: str, value: str) -> None:
        if name == "set":
            self.options.set.append(value)
        else:
            setattr(self.options, name, value)


def _joined(words: Iterable[str]) -> list[str]:
    """The words with those put together again that bash splits at an equals sign."""
    joined: list[str] = []
    for word in words:
        if joined and (word == "=" or joined[-1].endswith("=")):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def complete(words: Sequence[str]) -> int:
    """Print a line for each offer."""
    offers = _offers(Line(words)) if words else ()
    sys.stdout.writelines(f"{offer}\n" for offer in offers if _PLAIN.fullmatch(offer))
    return 0


def _offers(line: Line) -> Iterable[str]:
    wanted = line.options.namespace or DEFAULT_NAMESPACE
    if line.flag == "namespace":
        return sorted({namespace for namespace, _ in _objects(line, "") if namespace})
    kind, slash, _ = line.current.partition("/")
    if line.flag or line.current.startswith("-"):
        return ()
    match line.arguments:
        case [] if slash:
            found = _objects(line, kind)
            here = [f"{kind}/{name}" for namespace, name in found if namespace in {"", wanted}]
            return here + [f"{kind}/{space}/{name}" for space, name in found if space not in {"", wanted}]
        case [kind] if "/" not in kind:
            return [name for namespace, name in _objects(line, kind) if namespace in {"", wanted}]
        case _:
            return ()


def _objects(line: Line, kind: str) -> list[tuple[str, str]]:
    """Namespace and name of the objects of a kind, or of all."""
    try:
        answer = request(line.options, "GET", "/names", timeout=TIMEOUT, kind=kind)
        return [(namespace, name) for namespace, name in answer["objects"]]
    except (CommandError, KeyError, TypeError, ValueError):
        return []
