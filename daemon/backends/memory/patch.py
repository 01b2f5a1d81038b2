"""JSON merge patch (RFC 7396)."""

from typing import Any

from syncret.config.meta import Document, is_object


def merged(target: Document, patch: Document) -> Document:
    """The target with the patch laid over it: null removes, objects merge, everything else replaces.

    Neither argument is changed; unchanged parts are shared with the result.
    """
    result = dict(target)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif is_object(value):
            below: Any = result.get(key)
            result[key] = merged(below if is_object(below) else {}, value)
        else:
            result[key] = value
    return result
