"""Takes a property out of a value by its path, as most providers do for `remoteRef.property`."""

from syncret.providers.kit import gojson


def value(document: bytes, path: str) -> bytes | None:
    """What the path leads to, as a secret holds it; None where it leads nowhere.

    Raises Malformed for a path that asks for unreasonable work.
    """
    from syncret.providers.kit.gjson.walk import find  # slow to import, and most values are taken whole

    found = find(gojson.text(document), path)
    return found.text.encode("utf-8", "surrogateescape") if found.exists else None


def escaped(name: str) -> str:
    """The path that means one member of just this name, whatever dots it has."""
    return name.replace(".", "\\.")


def named(document: bytes, path: str) -> bytes | None:
    """The member that has the whole path for a name, whatever dots it has; or else what the path leads to."""
    if path.find(".") > 0:
        found = value(document, escaped(path))
        if found is not None:
            return found
    return value(document, path)
