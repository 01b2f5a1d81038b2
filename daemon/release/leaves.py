"""Reads sensitive leaves: what the author writes, and what the user fulfils it with."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from syncret.config.fields import DNS_SUBDOMAIN, SECRET_KEY, Json
from syncret.config.meta import Document, is_object
from syncret.config.spelling import allowed_values_hint
from syncret.daemon.core.constraints.rules import Constraints, read_constraints
from syncret.daemon.release.findings import Findings, Place
from syncret.daemon.release.model import (
    AUTHORS,
    DATA_KEY,
    MARK,
    ROUTING,
    SECRET_NAME,
    Failed,
    Fulfilment,
    Reference,
    Routing,
    Source,
    Text,
)
from syncret.daemon.release.tags import TagError, read_tag
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work

_LONGEST: Final = 253
_NAME: Final = re.compile(DNS_SUBDOMAIN.removeprefix("^").removesuffix("$"))
_KEY: Final = re.compile(SECRET_KEY.removeprefix("^").removesuffix("$"))
_SOURCES: Final[tuple[Source, ...]] = ("k8s", "k8s-eso")
_SPELLINGS: Final[Mapping[str, tuple[str, Source]]] = {
    "path": ("remoteKey", "k8s"),
    "secretName": ("remoteKey", "k8s"),
    "ref": ("key", "k8s"),
    "externalPath": ("remoteKey", "k8s-eso"),
}
"""How a reference may be written: the member with the place, the one with the key, and the source."""

_KEYS: Final = {"key": "ref", "remoteKey": "path"}
USERS: Final = ("value", "source", "remoteKey", *_SPELLINGS, "key")
"""The members of a sensitive leaf that its user writes."""

_WRITE: Final = "write {value: ...} or {source: k8s-eso, path: ..., remoteKey: ...}"


def is_sensitive(value: Json) -> bool:
    """Whether a mapping has the shape of a sensitive leaf, or was meant to."""
    return is_object(value) and any(name in value for name in ROUTING)


def is_name(text: Json) -> bool:
    """Whether it is the name of a Secret."""
    return isinstance(text, str) and len(text) <= _LONGEST and _NAME.fullmatch(text) is not None


def is_key(text: Json) -> bool:
    """Whether it is a key of a Secret."""
    return (
        isinstance(text, str)
        and len(text) <= _LONGEST
        and _KEY.fullmatch(text) is not None
        and text != "."
        and not text.startswith("..")
    )


_EXAMPLES: Final = {SECRET_NAME: "db-creds", DATA_KEY: "password"}


class LeafReader:
    """Reads leaves with the constraints that have a name."""

    def __init__(self, findings: Findings, named: Mapping[str, Document | None]) -> None:
        self._findings = findings
        self._named = named
        self.routed: dict[str, set[str]] = {}
        """The keys of each `$secretName` that any leaf writes, those of leaves with a mistake too."""

    def routing(self, written: Document, place: Place, *, published: bool) -> Routing | None:
        """What the author says; None if it cannot be used. What is `published` holds no fulfilment."""
        if not self._is_marked(written, place):
            return None
        errors = self._findings
        secret_name, key = written.get(SECRET_NAME), written.get(DATA_KEY)
        if isinstance(secret_name, str):
            self.routed.setdefault(secret_name, set()).update([key] if isinstance(key, str) else [])
        known = AUTHORS if published else (*AUTHORS, *USERS)
        users = [name for name in written if name in USERS]
        unknown = [name for name in written if name not in known and name not in users]
        suppressed = errors.unknown(place, unknown, known)
        fulfilled = published and bool(users)
        if fulfilled:
            hint = "users write it in the values of their release"
            errors.error(place.at(users[0]), "a module is published and holds no values", hint)
        is_complete = self._member(
            written, place, SECRET_NAME, is_name, "a name of a Secret (DNS-1123 subdomain)", suppressed
        )
        is_complete &= self._member(
            written, place, DATA_KEY, is_key, "a key of a Secret: letters, digits, '-', '_', '.'", suppressed
        )
        if not is_complete:
            return None
        description = self._text(written, place)
        optional = written.get("$optional", False)
        if not isinstance(optional, bool):
            errors.error(place.at("$optional"), "must be true or false", "write $optional: true")
        constraints = self._constraints(written, place)
        if fulfilled or constraints is None:
            return None
        shown: Document = {str(name): written[name] for name in AUTHORS if name in written}
        return Routing(
            written[SECRET_NAME], written[DATA_KEY], description, constraints, optional is True, shown
        )

    def _is_marked(self, written: Document, place: Place) -> bool:
        if written.get(MARK) == "secret":
            return True
        near = self._findings.unknown(
            place, (name for name in written if name.startswith("$opm") and name != MARK), (MARK,)
        )
        if MARK not in near:
            message = "must be secret" if MARK in written else "is missing: the field would be plain text"
            self._findings.error(place.at(MARK), message, "write $opm: secret")
        return False

    def _member(  # what a member is, and what is wrong with it
        self,
        written: Document,
        place: Place,
        name: str,
        holds: Callable[[Json], bool],
        what: str,
        suppressed: set[str],
    ) -> bool:
        if holds(written.get(name)):
            return True
        if name not in written:
            if name not in suppressed:
                self._findings.error(place.at(name), f"is missing: {what}", f"write {name}: ...")
        else:
            hint = (
                f"write {name}: {_EXAMPLES[name]}" if isinstance(written[name], str) else "put it in quotes"
            )
            self._findings.error(place.at(name), f"must be {what}", hint)
        return False

    def _text(self, written: Document, place: Place) -> str:
        text = ""
        for name in ("description", "$description"):
            found = written.get(name, "")
            if isinstance(found, str):
                text = text or found
            else:
                self._findings.error(place.at(name), "must be text", "quote it")
        return text

    def _constraints(self, written: Document, place: Place) -> Constraints | None:
        if "$constraints" not in written:
            return Constraints()
        constraints, problems = read_constraints(written["$constraints"], self._named, Work())
        for problem in problems[:1]:
            self._findings.error(place.at("$constraints"), problem.message, problem.hint)
        return None if problems else constraints

    @staticmethod
    def known(said: Document) -> Document:
        """The known members of a user's mapping; the unknown ones were reported with the routing."""
        return {name: value for name, value in said.items() if name in USERS}

    def fulfilment(self, written: Json, routing: Routing, place: Place) -> Fulfilment:
        """What the user fulfils a field with; its problems are reported here."""
        if isinstance(written, str) and written.startswith("@"):
            try:
                tag = read_tag(written)
            except TagError as error:
                self._findings.error(place, error.message, error.hint)
                return Failed()
            if tag is not None:
                return tag
        if written is None:
            written = {}
        if not is_object(written):
            message = "a sensitive field takes a mapping"
            self._findings.error(place, message, "write {value: ...} around it, or a reference")
            return Failed()
        if not self._is_unified(written, routing, place):
            return Failed()
        said = {name: value for name, value in written.items() if name not in AUTHORS}
        if not said:
            return self._unfulfilled(routing, place)
        return self._variant(said, place)

    def _unfulfilled(self, routing: Routing, place: Place) -> Fulfilment:
        if routing.optional:
            return None
        description = f" ({routing.description})" if routing.description else ""
        self._findings.error(place, f"is a sensitive field without a value{description}", _WRITE)
        return Failed()

    def _is_unified(self, written: Document, routing: Routing, place: Place) -> bool:
        """Whether the routing that a user repeats is the author's."""
        differing = [
            name for name in AUTHORS if name in written and routing.written.get(name) != written[name]
        ]
        for name in differing:
            hint = "leave it out: where a field goes is for the module to say"
            self._findings.error(place.at(name), "differs from what the module says", hint)
        return not differing

    def _variant(self, said: Document, place: Place) -> Fulfilment:
        errors = self._findings
        suppressed = errors.unknown(place, said, USERS)
        known = {name: value for name, value in said.items() if name in USERS}
        if len(known) < len(said):
            reported = known.keys() | suppressed
            if "value" not in reported and known and "value" not in known:
                self._gaps(known, suppressed, place)
            return Failed()
        if "value" in known:
            return self._literal(known, place)
        return self._reference(known, place)

    def _literal(self, known: Document, place: Place) -> Fulfilment:
        if len(known) > 1:
            message = "has both a value and a reference"
            self._findings.error(place, message, "write {value: ...} or {source, path, remoteKey}")
            return Failed()
        value: Json = known["value"]
        if not isinstance(value, str):
            self._findings.error(place.at("value"), "must be a string", "put it in quotes")
            return Failed()
        return Text(SecretBytes(value.encode("utf-8", "replace")))

    def _gaps(self, known: Document, suppressed: set[str], place: Place) -> str | None:
        """The member that names the place of a reference; None if one is missing, or there are two."""
        spelt = [name for name in _SPELLINGS if name in known]
        if len(spelt) > 1 or (spelt and spelt[0] != "path" and "source" in known):
            names = [*(["source"] if "source" in known else []), *spelt]
            hint = "write {source, path, remoteKey}"
            self._findings.error(place, f"has {' and '.join(names)}, of two spellings", hint)
            return None
        key = next((name for name in ("key", "remoteKey") if name in known), "")
        where = spelt[0] if spelt else _KEYS.get(key, "path")
        wanted = _SPELLINGS[where][0]
        if key and key != wanted:
            self._findings.error(place, f"has {where} and {key}, of two spellings", f"write {wanted}")
            return None
        missing = [name for name in (where, wanted) if name not in known and name not in suppressed]
        for name in missing:
            self._findings.error(place.at(name), "is missing", f"write {name}: ...")
        return None if missing or where not in known or wanted not in known else where

    def _reference(self, known: Document, place: Place) -> Fulfilment:
        errors = self._findings
        where = self._gaps(known, set(), place)
        source: Json = known.get("source", "k8s")
        is_source = source in _SOURCES if isinstance(source, str) else False
        if not is_source:
            hint = allowed_values_hint(source if isinstance(source, str) else "", _SOURCES)
            errors.error(place.at("source"), "is no source", hint)
        if where is None or not is_source:
            return Failed()
        key, spelt = _SPELLINGS[where]
        chosen: Source = "k8s-eso" if "k8s-eso" in (source, spelt) else "k8s"
        if not self._are_texts(known, place, where, key):
            return Failed()
        if chosen == "k8s":
            is_good = is_name(known[where]) and is_key(known[key])
            if not is_name(known[where]):
                hint = "name a Secret; for an entry of a secret manager write source: k8s-eso"
                errors.error(place.at(where), "must be the name of a Secret", hint)
            if not is_key(known[key]):
                hint = "letters, digits, '-', '_' and '.'"
                errors.error(place.at(key), "must be a key of a Secret", hint)
            if not is_good:
                return Failed()
        return Reference(chosen, known[where], known[key])

    def _are_texts(self, known: Document, place: Place, *names: str) -> bool:
        bad = [name for name in names if not isinstance(known[name], str) or not known[name]]
        for name in bad:
            self._findings.error(place.at(name), "must be a string that is not empty", "put it in quotes")
        return not bad
