"""Extracts a property of a JSON value by its gjson path, for `remoteRef.property`."""

from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.values import SecretBytes, SecretMap
from syncret.providers.work import Work


def value(document: bytes, path: str, work: Work) -> bytes | None:
    """The value at the path, as bytes of a secret; None if there is none.

    Raises Malformed for a path that leads too deep, and OverBudget.
    """
    from syncret.providers.kit.golang.gjson.walk import (
        find,  # slow to import, and most refs have no property
    )

    work.make(len(document))
    found = find(gojson.text(document), path, work)
    return found.text.encode("utf-8", "surrogateescape") if found.exists else None


def escaped(name: str) -> str:
    """The path of the member with exactly this name, dots escaped."""
    return name.replace(".", "\\.")


def member_or_path(document: bytes, path: str, work: Work) -> bytes | None:
    """The member whose name is the whole path, dots included; otherwise the value at the path."""
    if path.find(".") > 0:
        found = value(document, escaped(path), work)
        if found is not None:
            return found
    return value(document, path, work)


def members(document: bytes, failure: str, work: Work) -> SecretMap:
    """The members of a JSON object: strings unquoted, others as in the text. `failure` begins the message."""
    problem = ""
    try:
        return {key: SecretBytes(member) for key, member in gojson.to_secret_map(document, work).items()}
    except Malformed as error:
        problem = error.message
    raise Malformed(f"{failure}: {problem}", hint="extract takes a value that is a JSON object")


def missing_property(problem: str) -> Malformed:
    """The error for a property that does not exist: a mistake, not a deleted entry."""
    return Malformed(problem, hint="correct remoteRef.property, or leave it out to take the whole value")
