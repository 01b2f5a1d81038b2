"""Documents drawn from OpenAPI schemas: sound ones, and ones that are damaged in one place or two."""

import re
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any, Final

from syncret.config.fields import Json
from syncret.config.meta import Document, is_object

SAMPLES: Final = (
    "a",
    "some-name",
    "key",
    "A_b",
    "a.b",
    "0 9 * * 1-5",
    "@daily",
    "5m",
    "https://x.example",
    "",
)
_BAD: Final[tuple[Json, ...]] = (
    *(
        None,
        "",
        " ",
        0,
        -1,
        1.0,
        1.5,
        True,
        {},
        {"a": None},
        {"": 1},
        {"name": None},
        {"name": "x", "key": "y"},
    ),
    *(2**31, 2**31 - 1, 2**63 - 1, 2**63, -(2**63), 1e20, "null", "a" * 63, "a" * 64, "a" * 253, "a" * 254),
    *(
        "A",
        "-a",
        "a-",
        "a..b",
        "a\n",
        "é",
        "\0",
        "YQ",
        "YQ==",
        "Y\nQ==",
        "====",
        "1h",
        "1d",
        "5",
        "@every 5m",
    ),
    *("2026-01-01", "2026-01-01T00:00:00.5+02:00", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z"),
)
_LISTS: Final[tuple[Json, ...]] = ([], [None], ["a"], ["a", "a"], [[]], [{}], [{"name": "a"}])


class Artist:
    """Draws what one source of chance decides."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance

    def document(self, api_version: str, kind: str, schema: Document) -> Document:
        """An object of a kind: sound in half of the cases."""
        made = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}
        spec = schema["properties"]["spec"]
        made["spec"] = self._value(spec, 0)
        for _ in range(self._chance.choice((0, 1, 1, 2))):
            self._damage(made, spec)
        return made

    def _value(self, schema: Document, depth: int) -> Json:
        match schema.get("type"):
            case "object" if "additionalProperties" in schema:
                keys = self._chance.sample(("a", "b", "k.x", "some key"), self._chance.randint(0, 2))
                return {key: self._value(schema["additionalProperties"], depth + 1) for key in keys}
            case "object":
                return self._object(schema, depth)
            case "array":
                count = max(self._chance.randint(0, 2), schema.get("minItems", 0))
                return [self._value(schema["items"], depth + 1) for _ in range(count)]
            case "string":
                return self._text(schema)
            case "integer" | "number":
                low = int(schema.get("minimum", 0))
                return self._chance.randint(low, int(schema.get("maximum", low + 100)))
            case "boolean":
                return self._chance.choice((True, False))
            case _:
                return self._chance.choice((5, "1h", "x"))

    def _object(self, schema: Document, depth: int) -> Document:
        properties: dict[str, Document] = schema.get("properties", {})
        wanted = set(schema.get("required", ()))
        density = self._chance.choice((0.1, 0.5, 0.9)) / max(depth, 1)
        if schema.get("maxProperties") == 1:
            wanted, density = {self._chance.choice(sorted(properties))}, 0
        for rule in schema.get("x-kubernetes-validations", ()):
            choices = [name for name in re.findall(r"has\(self\.(\w+)\)", rule["rule"]) if name in properties]
            wanted |= {self._chance.choice(choices)} if choices else set()
        names = [name for name in properties if name in wanted or self._chance.random() < density]
        return {name: self._value(properties[name], depth + 1) for name in names}

    def _text(self, schema: Document) -> str:
        if "enum" in schema:
            return str(self._chance.choice(schema["enum"]))
        formats = {"byte": "YQ==", "date-time": "2026-01-01T00:00:00Z"}
        if schema.get("format") in formats:
            return formats[schema["format"]]
        fitting = [
            text
            for text in SAMPLES
            if re.search(schema.get("pattern", ""), text) and len(text) >= schema.get("minLength", 0)
        ]
        return self._chance.choice(fitting or SAMPLES)

    def _damage(self, document: Document, schema: Document) -> None:
        places = list(_places({"spec": document.get("spec")}, {"properties": {"spec": schema}}))
        holder, key, said = self._chance.choice(places)
        if isinstance(holder[key], dict) and self._chance.random() < 0.5:
            known = sorted(said.get("properties", ()))
            name = self._chance.choice([*known, "bogus", "x y"])
            if name in known and self._chance.random() < 0.5:
                holder[key][name] = self._value(said["properties"][name], 3)
            else:
                holder[key][name] = self._bad(said.get("properties", {}).get(name, {}))
        elif isinstance(holder, dict) and self._chance.random() < 0.3:
            del holder[key]
        else:
            holder[key] = self._bad(said)
        if "spec" in document:
            document["spec"] = places[0][0].get("spec")

    def _bad(self, schema: Document) -> Json:
        # The server's check of formats passes over lists, which no reader of the type then takes.
        lists = () if schema.get("format") in {"byte", "date-time"} else _LISTS
        return deepcopy(self._chance.choice((*_BAD, *lists)))


def _places(value: Json, schema: Document) -> Iterator[tuple[Any, Any, Document]]:
    """Everything in a value: what holds it, under which key, and what the schema says of it."""
    keys: list[Any] = list(value) if is_object(value) else list(range(len(value)))
    for key in keys:
        found: Json = schema.get("properties", {}).get(key) if is_object(value) else schema.get("items")
        said: Document = found or schema.get("additionalProperties") or {}
        yield value, key, said
        if isinstance(value[key], dict | list):
            yield from _places(value[key], said)
