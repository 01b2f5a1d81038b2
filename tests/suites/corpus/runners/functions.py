"""Cases that are one call of a pure function: decoding, keys, JSON, digests, windows, tokens, rewrites."""

import base64
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Final, TypeAlias

import msgspec

from syncret.config.durations import parse_duration
from syncret.config.fields import Json
from syncret.config.meta import is_object
from syncret.config.resources.external_secret import Rewrite
from syncret.daemon.core import conversion, digest
from syncret.daemon.core.assemble import rewrite
from syncret.daemon.core.schedule import sync_windows
from syncret.daemon.engine.templates import Templates
from syncret.providers.errors import Malformed
from syncret.providers.generators import mfa
from syncret.providers.kit.golang import json as gojson
from syncret.providers.work import Work
from tests.suites.corpus.runners.cases import Case
from tests.suites.corpus.runners.comparing import Unknown, knows
from tests.suites.corpus.runners.templates import engine_mismatches, template_mismatches

Body: TypeAlias = Mapping[str, Json]

_ABOUT: Final = frozenset({"id", "note", "source", "uncertain"})


def mismatches(case: Case) -> Iterator[str]:
    """What came that was not expected; nothing for a case that holds."""
    if (case.file, case.group) not in _CHECKS:
        raise Unknown(f"the runner has no function for the list {case.group!r}")
    inputs, outcomes, check = _CHECKS[case.file, case.group]
    knows(case.body, _ABOUT | inputs | outcomes, "case")
    if not outcomes & case.body.keys():
        yield "the case expects nothing"
    yield from check(case)


def _judged(case: Case, act: Callable[[Body], Json]) -> Iterator[str]:
    """The case's call, against `want`, `want_b64` or `error` with `error_hint`."""
    body = case.body
    try:
        came = act(body)
    except Malformed as error:
        if body.get("error") is not True:
            yield f"expected {_wanted(body)!r}; came the error: {error}"
        elif body.get("error_hint", "") not in str(error):
            yield f"expected an error with {body['error_hint']!r}; came the error: {error}"
        return
    if body.get("error") is True:
        yield f"expected an error; came {came!r}"
    elif came != _wanted(body):
        yield f"expected {_wanted(body)!r}; came {came!r}"


def _wanted(body: Body) -> Json:
    """What is wanted, texts as bytes."""
    if "want_b64" in body:
        return _each(body["want_b64"], base64.b64decode)
    return _each(body.get("want"), str.encode)


def _each(value: Json, change: Callable[[str], bytes]) -> Json:
    if is_object(value):
        return {name: _each(member, change) for name, member in value.items()}
    return change(value) if isinstance(value, str) else value


def _bytes(values: Mapping[str, str]) -> dict[str, bytes]:
    return {name: value.encode() for name, value in values.items()}


def _decode(case: Case) -> Iterator[str]:
    yield from _judged(case, lambda body: conversion.decode(body["strategy"], body["in"].encode(), Work()))


def _decode_map(case: Case) -> Iterator[str]:
    yield from _judged(case, lambda body: conversion.decode_map(body["strategy"], _bytes(body["in"]), Work()))


def _convert_keys(case: Case) -> Iterator[str]:
    yield from _judged(
        case, lambda body: conversion.convert_keys(body["strategy"], _bytes(body["in"]), Work())
    )


def _reverse_key(case: Case) -> Iterator[str]:
    yield from _judged(case, lambda body: conversion.reverse(body["strategy"], body["in"]).encode())


def _reverse_map(case: Case) -> Iterator[str]:
    yield from _judged(
        case, lambda body: conversion.reverse_keys(body["strategy"], _bytes(body["in"]), Work())
    )


def _json_to_secret_map(case: Case) -> Iterator[str]:
    yield from _judged(case, lambda body: gojson.to_secret_map(body["in"], Work()))


def _byte_value(case: Case) -> Iterator[str]:
    yield from _judged(case, lambda body: gojson.byte_value(body["in"], Work()))


def _validate_keys(case: Case) -> Iterator[str]:
    expected = case.body["ok"]
    try:
        remaining = sorted(conversion.validate_keys(dict.fromkeys(case.body["in"]), Work()))
    except Malformed as error:
        if expected:
            yield f"expected valid keys; came the error: {error}"
        return
    if not expected:
        yield "expected an error; the keys are taken as valid"
    elif remaining != sorted(case.body.get("remaining", remaining)):
        yield f"expected to remain {case.body['remaining']!r}; came {remaining!r}"


def _object_hash(case: Case) -> Iterator[str]:
    body = case.body
    if "data_b64" in body:
        came = digest.data_hash({name: base64.b64decode(value) for name, value in body["data_b64"].items()})
    else:
        came = digest.text_hash(body["string"])
    if came != body["want"]:
        yield f"expected {body['want']}; came {came}"


def _null_byte_policy(case: Case) -> Iterator[str]:
    try:
        conversion.check_null_bytes(case.body["policy"], {"key": base64.b64decode(case.body["value_b64"])})
    except Malformed as error:
        if case.body["ok"]:
            yield f"expected no error; came {error}"
        return
    if not case.body["ok"]:
        yield "expected an error; the value passed"


def _totp(case: Case) -> Iterator[str]:
    def act(body: Body) -> dict[str, bytes]:
        when = datetime.fromisoformat(body["when"]).timestamp()
        token, left = mfa.totp(
            body["seed"].encode(), when, Work(), length=body["length"], period=body["timePeriod"]
        )
        return {"token": token.encode(), "timeLeft": str(left).encode()}

    yield from _judged(case, act)


def _window(case: Case) -> Iterator[str]:
    """Whether the one window of the list is open."""
    said = {**case.shared, **case.body}
    yield from _allowed("allow", [said], said["at"], expected=said["want"])


def _policy(case: Case) -> Iterator[str]:
    body = case.body
    yield from _allowed(body["kind"], body["windows"], body["at"], expected=body["allowed"])


def _allowed(kind: str, said: list[dict[str, Json]], at: str, *, expected: bool) -> Iterator[str]:
    moment = datetime.fromisoformat(at).timestamp()
    spans = [sync_windows.Window(one["schedule"], parse_duration(one["duration"])) for one in said]
    came = sync_windows.allowed(kind, spans, moment)
    if came is not expected:
        yield f"expected {expected}; came {came}"
    following = sync_windows.next_allowed(kind, spans, moment)
    if (following == moment) is not expected:
        yield f"expected {expected}; but the next time allowed after {moment} is {following}"


def _rewrite(case: Case) -> Iterator[str]:
    def act(body: Body) -> dict[str, bytes]:
        operations = msgspec.convert(body["operations"], tuple[Rewrite, ...])
        return rewrite(
            operations, _bytes(body["in"]), Work(), transform=Templates(lambda: 0.0).of(Work()).transform
        )

    yield from _judged(case, act)


_Check: TypeAlias = tuple[frozenset[str], frozenset[str], Callable[[Case], Iterator[str]]]

_RESULT: Final = frozenset({"want", "want_b64", "error", "error_hint"})
_STRATEGY: Final = frozenset({"strategy", "in"})
_IN: Final = frozenset({"in"})
_DC: Final = "decode_convert.json"

_CHECKS: Final[Mapping[tuple[str, str], _Check]] = {
    (_DC, "decode"): (_STRATEGY, _RESULT, _decode),
    (_DC, "decode_map"): (_STRATEGY, _RESULT, _decode_map),
    (_DC, "convert_keys"): (_STRATEGY, _RESULT, _convert_keys),
    (_DC, "reverse_key"): (_STRATEGY, _RESULT, _reverse_key),
    (_DC, "reverse_map"): (_STRATEGY, _RESULT, _reverse_map),
    (_DC, "validate_keys"): (_IN, frozenset({"ok", "remaining"}), _validate_keys),
    (_DC, "json_to_secret_map"): (_IN, _RESULT, _json_to_secret_map),
    (_DC, "byte_value"): (_IN, _RESULT, _byte_value),
    (_DC, "object_hash"): (frozenset({"data_b64", "string"}), frozenset({"want"}), _object_hash),
    (_DC, "null_byte_policy"): (frozenset({"policy", "value_b64"}), frozenset({"ok"}), _null_byte_policy),
    (_DC, "totp_generator"): (frozenset({"seed", "when", "length", "timePeriod"}), _RESULT, _totp),
    (_DC, "sync_windows"): (frozenset({"at"}), frozenset({"want"}), _window),
    (_DC, "sync_windows/policy_cases"): (
        frozenset({"kind", "windows", "at"}),
        frozenset({"allowed"}),
        _policy,
    ),
    ("rewrite.json", "cases"): (frozenset({"operations", "in"}), _RESULT, _rewrite),
    ("gotemplate.json", "cases"): (
        frozenset({"template", "data", "data_b64", "env", "parse_only", "delims", "missingkey"}),
        frozenset({"want", "error", "error_hint", "want_parse"}),
        template_mismatches,
    ),
    ("gotemplate.json", "engine_cases"): (
        frozenset({"object", "scope", "target", "tpl", "data", "decoding"}),
        frozenset({"want", "error", "error_hint"}),
        engine_mismatches,
    ),
    ("sprig.json", "cases"): (
        frozenset({"func", "template", "data"}),
        frozenset({"want", "want_regex", "error"}),
        template_mismatches,
    ),
}
