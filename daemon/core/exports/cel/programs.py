"""Checks and evaluates expressions, in a worker process. No value outlives its call."""

from collections.abc import Mapping
from typing import Final

import msgspec
from cel_expr_python import cel

from syncret.config.fields import Json
from syncret.config.meta import Document, is_list, is_object
from syncret.daemon.core.exports.cel.compiling import Programs
from syncret.daemon.core.exports.cel.environment import environment
from syncret.daemon.core.exports.cel.failures import OUT_OF_MEMORY, failure_of, quoted
from syncret.daemon.core.exports.cel.messages import Checked, Evaluation, Result, Text
from syncret.daemon.core.exports.cel.rewriting import escaped_names
from syncret.daemon.core.exports.problems import MOST_BYTES, Failure

_WHOLE: Final = range(-(2**63), 2**63)
_NO_JSON: Final = Failure("conversion", "the resource has numbers that no expression can hold", "write texts")
_TOO_LARGE: Final = Failure("limit", f"the result has more than {MOST_BYTES} bytes", "write several objects")

_programs: Final = Programs()


def check(text: Text) -> Checked:
    """Check an expression."""
    try:
        compiled = _programs.of(text, frozenset())
    except MemoryError:
        _programs.clear()
        return Checked(failure=OUT_OF_MEMORY)
    return Checked(failure=compiled) if isinstance(compiled, Failure) else compiled.checked


def evaluate(evaluation: Evaluation) -> list[Result]:
    """The results of a resource's expressions, in their order."""
    try:
        resource = _for_engine(msgspec.json.decode(evaluation.resource))
    except (MemoryError, RecursionError):
        return [Result(failure=OUT_OF_MEMORY)] * len(evaluation.expressions)
    except (OverflowError, ValueError):
        return [Result(failure=_NO_JSON)] * len(evaluation.expressions)
    inputs = _Inputs(resource, evaluation.secrets)
    return [_result(each, inputs) for each in evaluation.expressions]


class _Inputs:
    """The variables for the expressions of a resource, in the engine's own form, which is made once."""

    def __init__(self, resource: Json, secrets: Mapping[str, str]) -> None:
        self.resource: Final = resource
        self._public: Final[Document] = {"self": resource, "resource": resource}
        self._secret: Final[Document] = {**self._public, "secret": secrets, "secrets": secrets}
        self._made: dict[bool, cel.Activation] = {}

    def of(self, text: Text) -> cel.Activation:
        """The variables of an expression."""
        made = self._made.get(text.for_secret)
        if made is None:
            space = environment(for_secret=text.for_secret).evaluating
            made = space.Activation(self._secret if text.for_secret else self._public)
            self._made[text.for_secret] = made
        return made

    def forget(self) -> None:
        """Drop the engine's form, which keeps all earlier results in memory."""
        self._made.clear()


def _result(text: Text, inputs: _Inputs) -> Result:
    try:
        return _evaluated(text, inputs)
    except MemoryError:
        inputs.forget()
        _programs.clear()
    try:  # the memory may be taken by earlier results
        return _evaluated(text, inputs)
    except MemoryError:
        inputs.forget()
        return Result(failure=OUT_OF_MEMORY)


def _evaluated(text: Text, inputs: _Inputs) -> Result:
    escaped = escaped_names(text.source)
    compiled = _programs.of(text, _absent(escaped, inputs.resource))
    if isinstance(compiled, Failure):
        return Result(failure=compiled)
    try:
        return _converted(compiled.program.eval(inputs.of(text)), text.source)
    except RuntimeError as error:
        return Result(failure=failure_of(str(error), text.source))
    except TypeError:  # of a value that Python has no form for, such as an optional one
        return Result(failure=_no_text("value of another type", text.source))


def _converted(value: cel.Value, source: str) -> Result:
    """The result as text, or as a mapping of texts; every other type is refused."""
    kind = value.type().name()
    if kind == "ERROR":
        return Result(failure=failure_of(str(value.plain_value()), source))
    if kind == "STRING":
        text: str = value.plain_value()
        return Result(failure=_TOO_LARGE) if _size(text) > MOST_BYTES else Result(text)
    if not kind.startswith("MAP"):
        return Result(failure=_no_text(kind, source))
    found = dict[str, str]()
    size = 0
    for key, each in value.value().items():
        inner = each.type().name()
        if not isinstance(key, str) or inner != "STRING":
            what = inner if isinstance(key, str) else "other keys"
            return Result(failure=_no_text(f"map with {what.lower()}", source))
        found[key] = each.plain_value()
        size += _size(key) + _size(found[key])
        if size > MOST_BYTES:
            return Result(failure=_TOO_LARGE)
    return Result(found)


def _no_text(kind: str, source: str) -> Failure:
    message = f"the result is a {kind.lower()}, not a string or a map of strings: {quoted(source)}"
    return Failure("output_type", message, "convert it with string()")


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _absent(names: frozenset[str], resource: Json) -> frozenset[str]:
    """Those of the names that no mapping of the resource has."""
    missing = set(names)
    waiting: list[Json] = [resource] if missing else []
    while waiting and missing:
        value = waiting.pop()
        if is_object(value):
            missing.difference_update(value)
            waiting += value.values()
        elif is_list(value):
            waiting += value
    return frozenset(missing)


def _for_engine(value: Json) -> Json:
    """The value as the engine takes it: integers out of its range are doubles, as in JSON."""
    if is_object(value):
        return {key: _for_engine(each) for key, each in value.items()}
    if is_list(value):
        return [_for_engine(each) for each in value]
    if isinstance(value, int) and value not in _WHOLE:
        return float(value)
    return value
