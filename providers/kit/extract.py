"""Takes a property out of a value by its path, as most providers do for `remoteRef.property`."""

from syncret.providers.contract import SecretBytes, SecretMap
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson


def value(document: bytes, path: str) -> bytes | None:
    """What the path leads to, as a secret holds it; None where it leads nowhere.

    Raises Malformed for a path that asks for unreasonable work.
    """
    from syncret.providers.kit.golang.gjson.walk import (
        find,  # slow to import, and most values are taken whole
    )

    found = find(gojson.text(document), path)
    return found.text.encode("utf-8", "surrogateescape") if found.exists else None


def escaped(name: str) -> str:
    """The path that means one member of just this name, whatever dots it has."""
    return name.replace(".", "\\.")


def member_or_path(document: bytes, path: str) -> bytes | None:
    """The member that has the whole path for a name, whatever dots it has; or else what the path leads to."""
    if path.find(".") > 0:
        found = value(document, escaped(path))
        if found is not None:
            return found
    return value(document, path)


def members(document: bytes, failure: str) -> SecretMap:
    """The members of a JSON object: strings bare, all else as it stands. `failure` begins the error."""
    problem = ""
    try:
        return {key: SecretBytes(member) for key, member in gojson.to_secret_map(document).items()}
    except Malformed as error:
        problem = error.message
    raise Malformed(f"{failure}: {problem}", hint="extract takes a value that is a JSON object")


def missing_property(problem: str) -> Malformed:
    """A property that leads nowhere: a mistake, not an entry that was deleted."""
    return Malformed(problem, hint="correct remoteRef.property, or leave it out to take the whole value")
