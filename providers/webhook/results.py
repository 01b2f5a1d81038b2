"""Extracts values from the response of a webhook."""

from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import jsonpath
from syncret.providers.kit.http.bodies import check_parsed
from syncret.providers.values import SecretBytes
from syncret.providers.work import Work


def one(body: bytes, path: str, work: Work) -> bytes:
    """The value: the whole body, or the value at the path."""
    return _text(jsonpath.parse(path, work).get(_parsed(body, work), work), work) if path else body


def members(body: bytes, path: str, work: Work) -> dict[str, SecretBytes]:
    """The members of the object in the body or at the path; a string is parsed as JSON again."""
    found = _parsed(body, work)
    if path:
        found = jsonpath.parse(path, work).get(found, work)
    if isinstance(found, str):
        found = _parsed(found.encode("utf-8", "surrogateescape"), work, " from jsonpath")
    if not is_object(found):
        raise Malformed(
            f"failed to get response (wrong type: {_name(found)})",
            hint="extract needs an object: write result.jsonPath so that it leads to one",
        )
    return {key: SecretBytes(gojson.byte_value(value, work)) for key, value in found.items()}


def _parsed(body: bytes, work: Work, where: str = "") -> Json:
    check_parsed(body)
    try:
        return gojson.unmarshal(body, work)
    except Malformed as error:
        problem = error.message.rpartition(": ")[2]
    html = body[:256].lstrip().lower().startswith((b"<!doctype", b"<html"))
    raise Malformed(
        f"failed to parse response json{where}: {problem}",
        hint="the answer is HTML: does the URL lead to the API?" if html else "the answer is not JSON",
    )


def _text(found: Json, work: Work) -> bytes:
    """One value as the operator writes it: numbers without decimals, the first item of a list."""
    if is_list(found):
        if not found:
            raise Malformed("filter worked but didn't get any result", hint="is the entry there?")
        return _text(found[0], work)
    return f"{found:.0f}".encode() if isinstance(found, float) else gojson.byte_value(found, work)


def _name(found: Json) -> str:
    if found is None or is_list(found):
        return "null" if found is None else "list"
    return "bool" if isinstance(found, bool) else "number"
