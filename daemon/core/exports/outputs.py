"""Makes the Secrets and ConfigMaps of a resource from its results; if one is wrong, none is made."""

from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from syncret.config.fields import Json
from syncret.config.meta import Document, member
from syncret.config.schema.metadata_rules import is_label_value
from syncret.daemon.core.exports.cel.failures import is_written
from syncret.daemon.core.exports.cel.messages import Result
from syncret.daemon.core.exports.plan import no_key
from syncret.daemon.core.exports.problems import MOST_BYTES, ExportProblem, Failure, ProblemClass, failed
from syncret.daemon.core.exports.spec import Entry, Exports, Expression, Output, StaticEntry, is_key

_MOST_ANNOTATIONS: Final = 256 * 1024
_OWNER_FIELDS: Final = ("apiVersion", "kind", "name", "uid")


@dataclass(eq=False)
class Made:
    """The wanted content of one Secret or ConfigMap."""

    output: Output
    data: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    annotations: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    labels: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    secret_marks: set[str] = field(default_factory=set[str])
    """The annotations and labels whose expressions use secrets."""

    def as_document(self, resource: Document) -> Document:
        """The object, owned by the resource."""
        owner = member(resource, "metadata")
        metadata: Document = {"name": self.output.name}
        if "namespace" in owner:
            metadata["namespace"] = owner["namespace"]
        metadata |= {
            name: marks
            for name, marks in (("labels", self.labels), ("annotations", self.annotations))
            if marks
        }
        if "uid" in owner:
            reference = {**resource, **owner}
            metadata["ownerReferences"] = [{name: reference.get(name, "") for name in _OWNER_FIELDS}]
        document: Document = {"apiVersion": "v1", "kind": self.output.kind, "metadata": metadata}
        if self.output.kind == "ConfigMap":
            return document | {"data": self.data}
        data = {key: b64encode(value.encode()).decode() for key, value in self.data.items()}
        return document | {"type": "Opaque", "data": data}


class Outputs(NamedTuple):
    """The objects to write; none if there is a problem."""

    made: Sequence[Made]
    problems: Sequence[ExportProblem]


def outputs(
    exports: Exports,
    results: Sequence[Result] | Failure,
    static: Mapping[StaticEntry, str | None],
    secretive: Collection[str],
) -> Outputs:
    """The objects of these results.

    `static`: the values of the entries without an expression; `secretive`: the paths of expressions that use
    secrets.
    """
    if isinstance(results, Failure):
        return Outputs((), [failed("operatorSpec", results)])
    maker = _Maker(dict(zip((each.path for each in exports.expressions), results, strict=True)), secretive)
    for each, value in static.items():
        maker.add_static(each, value)
    for keyed in (True, False):  # a map's key meets the given ones, wherever they stand
        for entry in exports.entries:
            if (entry.key is not None) is keyed:
                maker.add(entry)
    for entry in exports.entries:
        maker.mark(entry)
    maker.weigh()
    order = dict.fromkeys([*(each.output for each in static), *(each.output for each in exports.entries)])
    return (
        Outputs((), maker.problems) if maker.problems else Outputs([maker.made[each] for each in order], ())
    )


def static_values(
    exports: Exports, resource: Document, secrets: Mapping[str, str]
) -> dict[StaticEntry, str | None]:
    """The values of the entries without an expression: a secret of that name, or a field of the status."""
    found: dict[StaticEntry, str | None] = {}
    for entry in exports.static:
        value: Json = secrets.get(entry.name) if entry.output.kind == "Secret" else None
        value = member(resource, "status").get(entry.name) if value is None else value
        found[entry] = value if isinstance(value, str) else None
    return found


class _Maker:
    """Puts results into their objects, and collects problems."""

    def __init__(self, results: Mapping[str, Result], secretive: Collection[str]) -> None:
        self._results = results
        self._secretive = secretive
        self.made: dict[Output, Made] = {}
        self.problems: list[ExportProblem] = []

    def add_static(self, entry: StaticEntry, value: str | None) -> None:
        made = self._of(entry.output)
        if not value:
            kind: ProblemClass = "missing_key" if value is None else "empty_output"
            self._fail(entry.path, Failure(kind, f"there is no value named {entry.name}"))
        else:
            made.data[entry.key] = value

    def add(self, entry: Entry) -> None:
        """The data of an entry."""
        made, value = self._of(entry.output), self._value(entry.value)
        if isinstance(value, str):
            if entry.key is None:
                failure = (
                    no_key()
                    if entry.value.wanted == "either"
                    else _not_wanted("a string", "a map of strings")
                )
                self._fail(entry.value.path, failure)
            else:
                self._put(made, {entry.key: value}, entry.value)
        elif value is not None and entry.key is not None:
            self._fail(entry.value.path, _not_wanted("a map", "a string"))
        elif value is not None:
            self._put_map(made, value, entry.value)

    def _put_map(self, made: Made, values: dict[str, str], expression: Expression) -> None:
        if not values:
            self._fail(expression.path, Failure("empty_output", "the result is an empty map"))
        bad = [key for key in values if not is_key(key)]
        if bad:
            named = self._named(bad, expression)
            hint = "use letters, digits, '-', '_' and '.', at most 253"
            self._fail(expression.path, Failure("bad_key", f"no object can have the key {named}", hint))
        twice = [key for key in values if key in made.data]
        if twice:
            named = self._named(twice, expression)
            message = f"the {made.output.kind} {made.output.name} gets more than once: {named}"
            self._fail(expression.path, Failure("collision", message, "make other keys"))
        self._put(made, values, expression)

    def _put(self, made: Made, values: Mapping[str, str], expression: Expression) -> None:
        empty = [key for key, value in values.items() if not value]
        if empty:
            message = f"the result is an empty text, for {self._named(empty, expression)}"
            self._fail(
                expression.path, Failure("empty_output", message, "use `.?name.orValue(...)` with a default")
            )
        made.data |= sorted(values.items())  # the engine has them in another order each time

    def _named(self, keys: Sequence[str], expression: Expression) -> str:
        """Keys in a message: one that may be made of a secret is named only if the author wrote it."""
        source = expression.text.source if expression.path in self._secretive else None
        shown = [repr(key) for key in sorted(keys) if source is None or is_written(key, source)]
        if len(shown) < len(keys):
            shown.append("a key that is made of a secret")
        return ", ".join(shown)

    def mark(self, entry: Entry) -> None:
        """The annotations and labels of an entry."""
        made = self._of(entry.output)
        for marks, into, is_label in (
            (entry.annotations, made.annotations, False),
            (entry.labels, made.labels, True),
        ):
            for name, expression in marks.items():
                value = self._value(expression)
                if isinstance(value, dict):
                    self._fail(expression.path, _not_wanted("a map", "a string"))
                elif value == "":
                    self._fail(expression.path, Failure("empty_output", "the result is an empty text"))
                elif value is not None and is_label and not is_label_value(value):
                    hint = "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends"
                    self._fail(
                        expression.path, Failure("bad_label", "the result is no value of a label", hint)
                    )
                elif value is not None:
                    into[name] = value
                    if expression.path in self._secretive:
                        made.secret_marks.add(name)

    def weigh(self) -> None:
        """Refuse an object that is too large for an API server."""
        for made in self.made.values():
            for what, values, most in (
                ("data", made.data, MOST_BYTES),
                ("annotations", made.annotations, _MOST_ANNOTATIONS),
            ):
                if _size(values) > most:
                    message = f"the {what} of the {made.output.kind} {made.output.name} exceed {most} bytes"
                    self._fail("operatorSpec", Failure("limit", message, "write several objects"))

    def _value(self, expression: Expression) -> str | dict[str, str] | None:
        result = self._results[expression.path]
        if result.failure is not None:
            self._fail(expression.path, result.failure)
        return result.value

    def _of(self, output: Output) -> Made:
        return self.made.setdefault(output, Made(output))

    def _fail(self, path: str, failure: Failure) -> None:
        self.problems.append(failed(path, failure))


def _not_wanted(came: str, wanted: str) -> Failure:
    return Failure("output_type", f"the result is {came}, and must be {wanted}")


def _size(values: Mapping[str, str]) -> int:
    return sum(len(text.encode()) for each in values.items() for text in each)
