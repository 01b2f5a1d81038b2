"""Renders the template of an ExternalSecret or PushSecret into an output object.

The order is the operator's: first the templates of `templateFrom`, then `data`, then labels and annotations.
With `templateAs: Values` a template renders the value of one key; with KeysAndValues it renders YAML with
keys and values.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias, cast

from msgspec import Struct

from syncret.config.fields import Json
from syncret.config.meta import Document, ObjectRef, is_list, is_object
from syncret.config.paths import join, write
from syncret.config.resources.kinds import CONFIG_MAP, SECRET
from syncret.config.resources.templates import Template, TemplateFrom, TemplateSource
from syncret.config.text.yaml_scalars import float_text
from syncret.daemon.core import conversion
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.work import Work

LARGEST_INDEX: Final = 10_000
"""The limit of an index in a path, because writing to an index extends the list."""

MOST_STEPS: Final = 100
_FEW_KEYS: Final = 1000
_KEY_COST: Final = 200
"""The later cost of a key, which becomes a file."""

_ITEM_SIZE: Final = 8
_MEMBER_SIZE: Final = 100
WELL_KNOWN: Final = ("data", "labels", "annotations")
_INT64: Final = 1 << 63
_SEGMENT: Final = re.compile(r"([^\[]*)((?:\[[^\]]*\])*)")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,18}")

Render: TypeAlias = Callable[[str, str, Mapping[str, bytes]], bytes]
"""Renders one template: its name, its text, the data. Raises Malformed with line and column."""

Sources: TypeAlias = Mapping[ObjectRef, Mapping[str, bytes]]
"""The data of the Secrets and ConfigMaps that hold templates."""

Step: TypeAlias = str | int


class Sink(Protocol):
    """An output object that takes rendered values."""

    def put(self, target: str, key: str, value: bytes) -> None:
        """Set one rendered value in `data`, labels, annotations or `spec`."""
        ...

    def put_at(self, path: str, make: Callable[[Json], Json]) -> None:
        """Change the value at a path. Raises Malformed if the output does not allow that."""
        ...


def sources_of(template: Template, namespace: str) -> list[ObjectRef]:
    """The Secrets and ConfigMaps whose templates `templateFrom` refers to."""
    refs: list[ObjectRef] = []
    for each in template.template_from:
        if each.config_map is not None:
            refs.append(CONFIG_MAP.ref(namespace, each.config_map.name))
        if each.secret is not None:
            refs.append(SECRET.ref(namespace, each.secret.name))
    return list(dict.fromkeys(refs))


class Rendering(Struct, frozen=True):
    """The input of a template besides the data: the renderer, and the texts in Secrets and ConfigMaps."""

    render: Render
    sources: Sources
    namespace: str
    work: Work
    path: str = "spec.target.template"
    """The field path of the template."""

    def apply(
        self, template: Template, sink: Sink, data: Mapping[str, bytes], *, metadata: bool = True
    ) -> None:
        """Render everything into the sink. Raises Malformed with the field path of the error."""
        for index, each in enumerate(template.template_from):
            try:
                self._apply_from(each, sink, data)
            except SyncError as error:
                entry = f"templateFrom[{index}]"
                raise error.within(entry).below(join(self.path, entry)) from error
        self._put_values(sink, "data", template.data, data, "data")
        if metadata:
            self._put_values(sink, "labels", template.metadata.labels, data, "metadata.labels")
            self._put_values(sink, "annotations", template.metadata.annotations, data, "metadata.annotations")

    def _put_values(
        self, sink: Sink, target: str, templates: Mapping[str, str], data: Mapping[str, bytes], field: str
    ) -> None:
        for key in sorted(templates):
            try:
                sink.put(target, key, self.render(key, templates[key], data))
            except SyncError as error:
                raise error.below(f"{self.path}.{join(field, write([key]))}") from error

    def _apply_from(self, each: TemplateFrom, sink: Sink, data: Mapping[str, bytes]) -> None:
        strategy = each.values_decoding_strategy or "None"
        target = each.target or "Data"
        for kind, source in ((CONFIG_MAP, each.config_map), (SECRET, each.secret)):
            if source is None:
                continue
            for key, text, scope in _items(kind.ref(self.namespace, source.name), source, self.sources):
                rendered = self.render(key, text, data)
                if scope == "Values":
                    self._put_value(sink, target, key, conversion.decode(strategy, rendered, self.work))
                else:
                    self._put_map(sink, target, rendered, strategy)
        if each.literal is not None:
            try:
                self._put_map(sink, target, self.render("literal", each.literal, data), strategy)
            except SyncError as error:
                raise error.below("literal") from error

    def _put_value(self, sink: Sink, target: str, key: str, value: bytes) -> None:
        """Put one rendered value; at a path it is parsed as YAML, or is text if it is not YAML."""
        if target.lower() in (*WELL_KNOWN, "spec"):
            sink.put(target.lower(), key, value)
            return
        try:
            parsed = _as_json(_parsed(value, self.work))
        except Malformed:
            parsed = conversion.as_text(value)
        self._pay_for_path(target)
        sink.put_at(target, lambda _existing: parsed)

    def _put_map(self, sink: Sink, target: str, rendered: bytes, strategy: str) -> None:
        """Put the keys and values of one rendered text."""
        parsed = _parsed(rendered, self.work)
        if target.lower() not in WELL_KNOWN:
            parsed = _as_json(parsed)
            whole = self._pay_for_path(target) == 1
            sink.put_at(target, lambda existing: parsed if whole else _merged(existing, parsed, self.work))
            return
        if parsed is not None and not is_object(parsed):
            raise Malformed(
                "the template does not render to a map",
                hint="with templateAs KeysAndValues it must give `key: value` lines",
            )
        self.work.step(_KEY_COST * max(len(parsed or {}) - _FEW_KEYS, 0))
        for key, value in (parsed or {}).items():
            decoded = conversion.decode(strategy, _text(key, value).encode(), self.work)
            sink.put(target.lower(), key, decoded)

    def _pay_for_path(self, path: str) -> int:
        """Pay for the lists that a path may extend, and return the number of its steps. Raises Malformed."""
        self.work.step(len(path))
        steps = parse_path(path)
        self.work.make(_ITEM_SIZE * sum(step for step in steps if isinstance(step, int)))
        return len(steps)


def _items(ref: ObjectRef, source: TemplateSource, sources: Sources) -> list[tuple[str, str, str]]:
    held = sources.get(ref)
    if held is None:
        raise Malformed(f'{ref.kind} "{ref.name}" not found', hint=f"create it in {ref.namespace}")
    found: list[tuple[str, str, str]] = []
    for item in source.items:
        if item.key not in held:
            raise Malformed(f"error in {ref.kind.lower()} {ref.name}: missing key {item.key}")
        try:
            text = held[item.key].decode()
        except UnicodeDecodeError:
            raise Malformed(f"error in {ref.kind.lower()} {ref.name}: key {item.key} is not text") from None
        found.append((item.key, text, item.template_as))
    return found


def _merged(existing: Json, parsed: Json, work: Work) -> Json:
    if not (is_object(existing) and is_object(parsed)):
        return parsed
    work.make(_MEMBER_SIZE * (len(existing) + len(parsed)))
    return {**existing, **parsed}


def _parsed(rendered: bytes, work: Work) -> Json:
    """The first YAML document. Raises Malformed if it is not YAML, or larger than a rendering may be."""
    # Importing the template engine takes 50 ms; here it is imported already, because something was rendered.
    from syncret.daemon.core.templating.functions.data.yaml_read import YamlError, load
    from syncret.daemon.core.templating.golang.budget import Budget
    from syncret.daemon.core.templating.golang.errors import FunctionError
    from syncret.daemon.core.templating.golang.values import text_of

    budget = Budget(at_once=work.at_once)
    try:
        with budget.out_of(work):
            return cast("Json", load(budget, text_of(rendered), exact=True))
    except YamlError:
        raise Malformed(
            "the rendered text is not YAML", hint="quote values that hold special characters"
        ) from None
    except FunctionError as error:
        raise Malformed(f"the rendered text is too large: {error}") from None


def _as_json(value: Json) -> Json:
    """The value as JSON: a float without a fraction becomes an integer. Raises Malformed."""
    if is_object(value):
        return {key: _as_json(member) for key, member in value.items()}
    if is_list(value):
        return [_as_json(member) for member in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if not math.isfinite(value):
        raise Malformed("the rendered text has a number that JSON has not", hint="put it in quotes")
    whole = int(value)
    return whole if whole == value and -_INT64 <= whole < _INT64 else float(value)


def _text(key: str, value: Json) -> str:
    """A scalar as text, as the operator converts it: booleans and numbers are formatted again."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, int | str):
        return str(value)
    raise Malformed(
        f"the value of key {key!r} is not a scalar", hint="quote it, or write it as a block (`|`)"
    )


def put_at_path(target: Document, path: str, make: Callable[[Json], Json]) -> None:
    """Replace the value at a path by the result of `make` for it (None if it is missing). Raises Malformed.

    Missing objects and lists on the way are created.
    """
    steps = parse_path(path)
    _put_at(target, path, steps, make)


def _put_at(node: Json, path: str, steps: Sequence[Step], make: Callable[[Json], Json]) -> Json:
    """Change the node, or create it, and return it."""
    step = steps[0]
    if isinstance(step, int):
        if node is not None and not is_list(node):
            raise Malformed(
                f"failed to set path {path}: index {step} needs a list, and there is something else"
            )
        items: list[Json] = [] if node is None else node
        items.extend([None] * (step + 1 - len(items)))
        items[step] = make(items[step]) if len(steps) == 1 else _put_at(items[step], path, steps[1:], make)
        return items
    if node is not None and not is_object(node):
        raise Malformed(
            f'failed to set path {path}: key "{step}" needs an object, and there is something else'
        )
    members: Document = {} if node is None else node
    present = members.get(step)
    members[step] = make(present) if len(steps) == 1 else _put_at(present, path, steps[1:], make)
    return members


def parse_path(path: str) -> list[Step]:
    """The keys and indexes of a path such as `spec.rules[0].to`. Raises Malformed."""
    steps: list[Step] = []
    for segment in path.split("."):
        found = _SEGMENT.fullmatch(segment)
        if found is None:
            raise Malformed(f'invalid path "{path}": brackets do not match', hint="write spec.list[0].field")
        name, brackets = found.groups()
        if not segment:
            raise Malformed(f'invalid path "{path}": empty segment', hint="write spec.list[0].field")
        if name:
            steps.append(name)
        steps += [_index(path, text) for text in re.findall(r"\[([^\]]*)\]", brackets)]
    if not isinstance(steps[0], str):
        raise Malformed(f'invalid path "{path}": path must start with a key', hint="write spec.list[0].field")
    if len(steps) > MOST_STEPS:
        raise Malformed(f"invalid path: it has {len(steps)} steps, and may have {MOST_STEPS}")
    return steps


def _index(path: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise Malformed(f'invalid path "{path}": bad index "{text}"', hint="write a number")
    index = int(text)
    if index < 0:
        raise Malformed(f'invalid path "{path}": negative index {index}', hint="count from 0")
    if index > LARGEST_INDEX:
        raise Malformed(f'invalid path "{path}": index {index} exceeds maximum ({LARGEST_INDEX})')
    return index
