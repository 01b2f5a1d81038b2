"""`aso.parseResourceId`: the parts of an Azure resource's ID."""

from typing import Final

from syncret.config.fields import Json

NO_ID: Final = "not the ID of an Azure resource"

_SUBSCRIPTIONS: Final = "subscriptions"
_GROUPS: Final = "resourceGroups"
_PROVIDERS: Final = "providers"
_LOCATIONS: Final = "locations"
_RESOURCES: Final = "Microsoft.Resources"
_TENANTS: Final = "tenants"
_INHERITED: Final = ("subscriptionId", "resourceGroupName", "provider", "location")


def parse_resource_id(text: str) -> dict[str, Json]:
    """The parts, with those of its parents below `parent`. Raises ValueError, without the text."""
    parts = [part for part in text.split("/") if part]
    if not text.startswith("/") or not parts or parts[0].lower() not in {_SUBSCRIPTIONS, _PROVIDERS}:
        raise ValueError(NO_ID)
    found = _part({}, _RESOURCES, _TENANTS, "")
    while parts:
        found, parts = _next(found, parts)
    return found


def _next(parent: dict[str, Json], parts: list[str]) -> tuple[dict[str, Json], list[str]]:
    """The next resource on the way down, and what is left of the ID."""
    word, *more = parts
    if word.lower() != _PROVIDERS:
        if not more:
            raise ValueError(NO_ID)
        return _below(parent, word, more[0]), more[1:]
    match more:
        case [name] | [name, "providers", *_]:
            return _part(parent, _RESOURCES, _PROVIDERS, name) | {"provider": name}, more[1:]
        case [namespace, kind, name, *rest]:
            return _part(parent, namespace, kind, name), rest
        case _:
            raise ValueError(NO_ID)


def _below(parent: dict[str, Json], word: str, name: str) -> dict[str, Json]:
    """A resource that is named by its type and its name alone."""
    above = parent["resourceType"]
    if word.lower() == _SUBSCRIPTIONS and above["type"] == _TENANTS:
        return _part(parent, _RESOURCES, _SUBSCRIPTIONS, name) | {"subscriptionId": name}
    if word.lower() == _GROUPS.lower():
        return _part(parent, _RESOURCES, _GROUPS, name) | {"resourceGroupName": name}
    return _part(parent, above["namespace"], f"{above['type']}/{word}", name)


def _part(parent: dict[str, Json], namespace: str, kind: str, name: str) -> dict[str, Json]:
    inherited = {
        field: parent.get(field, "")
        for field in ("subscriptionId", "resourceGroupName", "provider", "location")
    }
    if kind.rpartition("/")[2].lower() == _LOCATIONS:
        inherited["location"] = name
    return {
        **inherited,
        "resourceType": {"namespace": namespace, "type": kind},
        "name": name,
        "parent": parent or None,
    }
