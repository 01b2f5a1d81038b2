"""Finds plain fields that look sensitive, by their name or by what they are set to."""

import json
import re
from itertools import pairwise
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from syncret.daemon.release.findings import Findings, Place
from syncret.daemon.release.schema import Group, Node, Plain, Positions

_WORDS: Final = re.compile(
    r"pass(?:word|wd|phrase|code)?|pwd|secrets?|token|credentials?|dsn|pem|salt|otp|jwt|bearer|"
    r"(?:api|access|private|signing|encryption|auth|ssh|secret|service|account|license|master|hmac|tls|client)key|"
    r"(?:connection|conn)str(?:ing)?|(?:database|db|redis|mongo|amqp|broker)ur[il]|keytab|kubeconfig"
)
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_VALUES: Final = (
    (re.compile(r"-----BEGIN [A-Z ]*(?:PRIVATE KEY|CERTIFICATE)"), "PEM"),
    (re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@"), "an address with a password"),
    (re.compile(r"(?i)(?:^|[;\s?&])(?:password|pwd|secret|token)\s*="), "a connection string"),
    (re.compile(r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\."), "a JSON web token"),
    (
        re.compile(
            r"(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_|glpat-|xox[abpr]-|"
            r"sk_(?:live|test)_|hvs\.|AIza[0-9A-Za-z_-]{30,}|npm_[A-Za-z0-9]{30,}|SG\.[A-Za-z0-9_-]{16,}\."
        ),
        "a token",
    ),
)
_LOOKED_AT: Final = 4096
"""Characters of a value that are looked at."""


class Linter:
    """Warns of the plain text fields of one module that look sensitive."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def check(self, node: Node, value: Json, name: str = "") -> None:
        """A node, with what users set there."""
        match node:
            case Group(members=members):
                values = value if is_object(value) else {}
                for key, member in members.items():
                    self.check(member, values.get(key), key)
            case Positions(items=items):
                given = value if is_list(value) else []
                for index, item in enumerate(items):
                    self.check(item, given[index] if index < len(given) else None, name)
            case Plain(type="string"):
                set_to = value if isinstance(value, str) else node.default
                looks = _look_of(name, set_to if isinstance(set_to, str) else "")
                if looks and not node.one_of:
                    self._warn(node.place, name, looks)
            case _:
                pass

    def _warn(self, place: Place, name: str, looks: str) -> None:
        routed = "-".join(part.lower() for part in _PARTS.findall(name)) or "secret"
        change = f"{{$opm: secret, $secretName: {routed}, $dataKey: {routed}}}"
        message = f"is plain text, and looks sensitive: {looks}"
        self._findings.warn(place, message, f"write {json.dumps(name)}: {change}")


def _look_of(name: str, value: str) -> str:
    """Why a field looks sensitive; empty if it does not."""
    parts = [part.lower() for part in _PARTS.findall(name)]
    words = [*parts, *(a + b for a, b in pairwise(parts)), "".join(parts)]
    if any(_WORDS.fullmatch(word) for word in words):
        return "by its name"
    start = value[:_LOOKED_AT]
    return next((f"it is set to {what}" for pattern, what in _VALUES if pattern.search(start)), "")
