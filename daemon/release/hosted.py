"""A release that a host renders: each sensitive field, and the origin of its value."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct

from syncret.config.schema.admission import DEFAULT_NAMESPACE
from syncret.daemon.release.compiler import Rendered
from syncret.daemon.release.dispatch import Ref, ref_of, variant_of
from syncret.daemon.release.model import Field, Reference, Text
from syncret.daemon.release.parsed import Parsed


class HostedField(Struct, frozen=True):
    """One sensitive field."""

    path: str
    variant: str
    """`literal`, the source of a reference, or `absent`."""
    ref: Ref | None
    """The key of the Secret that holds it; None if it has none."""
    constraints: str
    """The verdict of the rendering; `deferred`: that of the ExternalSecret."""
    reference: Reference | None = None
    line: int = 0
    """The line of a literal; 0: unknown, or no literal."""


class HostedRelease(Struct, frozen=True):
    """One release, as the file of its manifests says it."""

    name: str
    namespace: str
    file: str
    line: int
    store: str
    """The store that references to a secret manager are read from; empty: not given."""
    fields: Sequence[HostedField]
    written: float = 0.0
    """When the file was written last, in seconds since the epoch."""

    @property
    def manifest(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"


def hosted(parsed: Parsed, result: Rendered, file: str, line: int) -> HostedRelease:
    """A release without mistakes, which stands at this place."""
    documents, store = parsed.documents, parsed.policy.store
    lines = dict(_lines(parsed.fields))
    return HostedRelease(
        documents.instance,
        documents.namespace or DEFAULT_NAMESPACE,
        file,
        line,
        "" if store is None else f"{store['kind']}/{store['name']}",
        [_field(field, result, lines.get(field.label, 0)) for field in parsed.fields],
    )


def _field(field: Field, result: Rendered, line: int) -> HostedField:
    fulfilment = field.fulfilment
    return HostedField(
        field.author.path,
        variant_of(fulfilment),
        ref_of(field, result.checked.groups[field.routing.secret_name]),
        result.checked.verdicts[field.label],
        fulfilment if isinstance(fulfilment, Reference) else None,
        line,
    )


def _lines(fields: Sequence[Field]) -> Iterator[tuple[str, int]]:
    """The lines of literals by the labels of their fields; those of one document are looked for at once."""
    of: dict[int, list[Field]] = defaultdict(list)
    for field in fields:
        if isinstance(field.fulfilment, Text):
            of[id(field.user.given)].append(field)
    for literals in of.values():
        lines = literals[0].user.given.lines
        if lines is not None:
            found = lines.of_all([(field.user.path, 0) for field in literals])
            yield from zip((field.label for field in literals), found, strict=True)
