"""Validates JSON documents against a model, as a Kubernetes API server does against a structural schema.

In one pass, unknown fields are pruned (with a warning each), null counts as absent where a field is not
nullable, defaults are filled in where their parent exists, every problem is reported with its field path, and
rules between fields are checked on objects that are otherwise valid. A model is compiled once, to closures.
"""

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from syncret.config.catalog import BrokenEntry, Catalog, generator_key
from syncret.config.errors import Problem, RuleViolation, Severity, UnknownField
from syncret.config.fields import Json, Model
from syncret.config.meta import Document
from syncret.config.paths import Path, render
from syncret.config.schema import scalars
from syncret.config.schema.scalars import Findings, Validator, wrong_type
from syncret.config.schema.shape import Field, Shape, shape_of
from syncret.config.schema.transitions import broken_transitions, has_transitions
from syncret.config.spelling import did_you_mean


class Admitted(NamedTuple):
    """The document as it would be stored, which may share parts with the input, and its problems."""

    document: Document
    problems: tuple[Problem, ...]


class Schema:
    """A compiled model."""

    def __init__(self, walk: Validator, shape: Shape) -> None:
        self._walk = walk
        self._shape = shape
        self._has_transitions = has_transitions(shape)

    @classmethod
    def of(cls, model: type[Model], catalog: Catalog, *, typed: Severity = Severity.ERROR) -> "Schema":
        """The schema of a model; specs of providers and generators come from the catalog, on first use.

        `typed` is the severity of a malformed duration and of a number beyond 32 bits: the API server accepts
        both, and only kinds that pass a webhook are refused for them.
        """
        return cls.of_shape(shape_of(model), catalog, typed=typed)

    @classmethod
    def of_shape(cls, shape: Shape, catalog: Catalog, *, typed: Severity = Severity.ERROR) -> "Schema":
        """The schema of any value, such as that of one field."""
        return cls(_compile(shape, catalog, typed), shape)

    def admit(self, document: Json) -> Admitted:
        """Validate, prune and default a document; the input is not changed."""
        findings: Findings = []
        result = self._walk(document, None, findings)
        if any(problem.__class__ is UnknownField for problem in findings):
            from syncret.config.schema.misplaced import with_place  # only for a mistake

            findings = [with_place(problem, self._shape) for problem in findings]
        return Admitted(result, tuple(findings))

    def changes(self, document: Document, previous: Document) -> Iterator[RuleViolation]:
        """The rules between two versions, both of them admitted, that the newer one breaks."""
        return broken_transitions(self._shape, document, previous) if self._has_transitions else iter(())


def _compile(shape: Shape, catalog: Catalog, typed: Severity) -> Validator:
    walk = _compile_value(shape, catalog, typed)
    if not shape.nullable:
        return walk
    return lambda value, path, findings: None if value is None else walk(value, path, findings)


def _compile_value(shape: Shape, catalog: Catalog, typed: Severity) -> Validator:
    if shape.catalog == "kinds":
        return scalars.one_of(shape.enum, catalog.generator_kinds())
    if shape.catalog:
        return _specs(shape.catalog, catalog, typed)
    if shape.kind == "object":
        return _object(shape, catalog, typed)
    if shape.items is not None:
        items = _compile(shape.items, catalog, typed)
        if shape.kind == "array":
            return _keyed(shape.list_keys, _array(shape, items)) if shape.list_keys else _array(shape, items)
        keys = None if shape.keys is None else scalars.scalar_validator(shape.keys, typed)
        return _map(shape, keys, items)
    return scalars.scalar_validator(shape, typed)


def _object(shape: Shape, catalog: Catalog, typed: Severity) -> Validator:
    children = {field.name: _compile(field.shape, catalog, typed) for field in shape.fields}
    strings = frozenset(name for name, child in children.items() if child is scalars.plain_string)
    nullable = frozenset(field.name for field in shape.fields if field.shape.nullable)
    defaults = tuple((field.name, field.default) for field in shape.fields if field.default is not None)
    required = {field.name for field in shape.fields if field.required}
    close = _object_checks(shape)

    def walk(value: Json, path: Path, findings: Findings) -> Json:
        if value.__class__ is not dict:
            hint = f"write its fields, such as {{{next(iter(children))}: ...}}" if children else ""
            findings.append(wrong_type(value, "an object", path, hint))
            return value
        before = len(findings)
        result: Document = {}
        for name, item in value.items():
            child = children.get(name)
            if child is None:
                findings.append(_unknown(name, path, children))
            elif item is not None or name in nullable:
                plain = name in strings and item.__class__ is str
                result[name] = item if plain else child(item, (path, name), findings)
        for name, default in defaults:
            if name not in result:
                result[name] = default()
        if not required <= result.keys():
            findings += [
                Problem(path=render((path, field.name)), message="is required", hint=_example(shape, field))
                for field in shape.fields
                if field.required and field.name not in result
            ]
        if close is not None:
            close(result, path, findings, before)
        return result

    return walk


def _object_checks(shape: Shape) -> Callable[[Document, Path, Findings, int], None] | None:
    """The checks of an object as a whole, made once its fields are validated."""
    low, high, rules = shape.min_length or 0, shape.max_length, shape.rules
    if not low and high is None and not rules:
        return None

    def close(value: Document, path: Path, findings: Findings, before: int) -> None:
        _count(value, low, high, path, findings)
        if rules and not any(
            problem.fatal and not isinstance(problem, RuleViolation) for problem in findings[before:]
        ):
            findings += [
                RuleViolation(path=render((path, rule.field) if rule.field else path), message=rule.message)
                for rule in rules
                if not rule.holds(value)
            ]

    return close


def _array(shape: Shape, items: Validator) -> Validator:
    low, high = shape.min_length or 0, shape.max_length

    def walk(value: Json, path: Path, findings: Findings) -> Json:
        if value.__class__ is not list:
            hint = "start each entry with '- '"
            findings.append(wrong_type(value, "an array", path, hint))
            return value
        if len(value) < low:
            message = f"must have at least {low} {'entry' if low == 1 else 'entries'}, has {len(value)}"
            findings.append(Problem(path=render(path), message=message))
        elif high is not None and len(value) > high:
            message = f"must have at most {high} {'entry' if high == 1 else 'entries'}, has {len(value)}"
            findings.append(Problem(path=render(path), message=message))
        return [items(item, (path, place), findings) for place, item in enumerate(value)]

    return walk


def _keyed(names: tuple[str, ...], array: Validator) -> Validator:
    """A list of objects, no two of which have all of these fields equal."""

    def walk(value: Json, path: Path, findings: Findings) -> Json:
        result = array(value, path, findings)
        seen: list[list[Json]] = []
        for place, item in enumerate(result if result.__class__ is list else ()):
            key = [item.get(name) for name in names] if item.__class__ is dict else None
            if key in seen:
                hint = f"write one entry for each {' and '.join(names)}"
                findings.append(
                    Problem(path=render((path, place)), message="there is an equal entry already", hint=hint)
                )
            elif key is not None:
                seen.append(key)
        return result

    return walk


def _map(shape: Shape, keys: Validator | None, items: Validator) -> Validator:
    low, high, null_is_empty = shape.min_length or 0, shape.max_length, shape.null_is_empty

    def walk(value: Json, path: Path, findings: Findings) -> Json:
        if value.__class__ is not dict:
            findings.append(wrong_type(value, "an object", path))
            return value
        result: Document = {}
        for name, item in value.items():
            if item is not None:
                result[name] = items(item, (path, name), findings)
            elif null_is_empty:
                result[name] = items("", (path, name), findings)
        if keys is not None:
            for name in result:
                keys(name, (path, name), findings)
        _count(result, low, high, path, findings)
        return result

    return walk


def _choice(names: Collection[str], schema: Callable[[str], Validator]) -> Validator:
    """An object of which exactly one property is set, each validated by a schema of its own."""
    compiled: dict[str, Validator] = {}

    def walk(value: Json, path: Path, findings: Findings) -> Json:
        if value.__class__ is not dict:
            findings.append(wrong_type(value, "an object", path))
            return value
        result: Document = {}
        for name, item in value.items():
            if name not in names:
                findings.append(_unknown(name, path, names))
            elif item is not None:
                try:
                    if name not in compiled:
                        compiled[name] = schema(name)
                except BrokenEntry as broken:
                    place = render((path, name))
                    findings.append(Problem(path=place, message=broken.message, hint=broken.hint))
                    continue
                result[name] = compiled[name](item, (path, name), findings)
        _count(result, 1, 1, path, findings, known=names)
        return result

    return walk


def _specs(table: str, catalog: Catalog, typed: Severity) -> Validator:
    def store(name: str) -> Validator:
        return _compile(shape_of(catalog.store(name).model), catalog, typed)

    def generator(key: str) -> Validator:
        return _compile(shape_of(catalog.generator(kinds[key]).model), catalog, typed)

    if table == "stores":
        return _choice(catalog.store_names(), store)
    kinds = {generator_key(kind): kind for kind in catalog.generator_kinds()}
    return _choice(kinds, generator)


def _example(owner: Shape, field: Field) -> str:
    """How a required field may be written."""
    from syncret.config.schema.docstrings import ABSENT  # only for a mistake
    from syncret.config.schema.field_docs import field_doc
    from syncret.config.text.yaml import to_flow

    example = field_doc(owner, field).example
    return (
        f"add the field {field.name}"
        if example is ABSENT
        else f"write {field.name}: {to_flow(example)}, for example"
    )


def _unknown(name: Json, path: Path, known: Collection[str]) -> Problem:
    return UnknownField(
        path=render((path, str(name))),
        message="unknown field, it is dropped",
        hint=did_you_mean(str(name), list(known)),
        severity=Severity.WARNING,
    )


def _count(
    value: Document,
    low: int,
    high: int | None,
    path: Path,
    findings: Findings,
    *,
    known: Collection[str] = (),
) -> None:
    count = len(value)
    if count < low:
        bound = "exactly" if low == high else "at least"
    elif high is not None and count > high:
        bound = "exactly" if low == high else "at most"
    else:
        return
    number = low if count < low else high
    message = f"must have {bound} {number} {'property' if number == 1 else 'properties'}, has {count}"
    hint = f"keep one of {', '.join(sorted(value))}" if value and number == 1 else did_you_mean("", [*known])
    findings.append(Problem(path=render(path), message=message, hint=hint))
