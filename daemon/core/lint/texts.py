"""Reads the small languages within a manifest with the engines that run them, and reports what they refuse.

Templates, regular expressions, JSONPaths, gjson paths and schedules are texts to an API server. Each is
parsed here as it will be when it is used; nothing is rendered, searched or matched.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from syncret.config.errors import Problem, Severity
from syncret.config.spelling import keys_hint
from syncret.daemon.core.schedule import sync_windows
from syncret.providers.errors import SyncError
from syncret.providers.work import Work

_SCHEDULE: Final = 'write five fields, such as "0 22 * * *", or @hourly, @daily, @every 6h'


class Keys(Struct, frozen=True):
    """All keys that a template may read, and what a message says of any other."""

    names: frozenset[str]
    otherwise: str


def warning(path: str, message: str, hint: str, text_line: int = 0) -> Problem:
    """A mistake that only shows when the text is used."""
    return Problem(
        path=path, message=message, hint=hint, severity=Severity.WARNING, text_line=text_line, runtime=True
    )


def template(
    path: str, text: str, keys: Keys | None = None, delims: tuple[str, str] = ("{{", "}}")
) -> Iterator[Problem]:
    """The mistakes in a template; `keys` are all that its data has, None if that is not known."""
    if delims[0] not in text:
        return
    # The engine takes 50 ms to import.
    from syncret.daemon.core.lint.template_reads import KeyRead, findings
    from syncret.daemon.core.templating import operator
    from syncret.daemon.core.templating.golang.errors import TemplateError

    try:
        operator.parse(path, text, Work(), delims)
    except TemplateError as error:
        message = f"the template does not parse: line {error.line}, column {error.column}: {error.message}"
        yield warning(path, message, error.hint, error.line)
        return
    except SyncError as error:
        yield warning(path, error.message, error.hint)
        return
    for place, found in findings(text, delims):
        where = f"line {place.line}, column {place.column}"
        if not isinstance(found, KeyRead):
            message = f"{where}: the regular expression of {found.function} is malformed"
            yield warning(path, message, found.hint, place.line)
        elif keys is not None and found.key not in keys.names:
            message = f'{where}: the template reads the key "{found.key}", and {keys.otherwise}'
            yield warning(path, message, found.remedy(sorted(keys.names)), place.line)


def regexp(path: str, source: str) -> Iterator[Problem]:
    """The mistake in a regular expression."""
    from syncret.providers.kit.golang import regexp as goregexp  # imports RE2

    try:
        goregexp.compile(source, Work())
    except SyncError as error:
        yield warning(path, error.message, error.hint)


def jsonpath(path: str, source: str) -> Iterator[Problem]:
    """The mistake in a JSONPath."""
    from syncret.providers.kit.golang import jsonpath as gojsonpath  # few manifests have one

    try:
        gojsonpath.parse(source, Work())
    except SyncError as error:
        yield warning(path, error.message, error.hint)


def gjson(path: str, source: str) -> Iterator[Problem]:
    """The mistake in a gjson path that would find nothing, whatever the value."""
    if source.isalnum():
        return
    from syncret.providers.kit.golang.gjson.faults import fault  # most properties are plain names

    found = fault(source)
    if found is not None:
        yield warning(path, found.message, found.hint)


def schedule(path: str, text: str) -> Iterator[Problem]:
    """The mistake in the schedule of a window, which would never open."""
    try:
        sync_windows.parse(text)
    except sync_windows.CronError as error:
        yield warning(path, f"the window never opens: {error}", _SCHEDULE)


def refused(path: str, error: SyncError) -> Problem:
    """The warning for an error that a run would have."""
    return warning(path, error.message, error.hint)


def no_such_key(path: str, owner: str, key: str, known: list[str]) -> Problem:
    """A key that an object among the manifests does not have."""
    return warning(path, f'{owner} has no key "{key}"', keys_hint(key, known))
