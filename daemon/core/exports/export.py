"""Computes one resource's exports: from its manifest and its secrets to the objects to write."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from syncret.config.meta import Document
from syncret.daemon.core.exports.cel.messages import Evaluation
from syncret.daemon.core.exports.evaluation import check_all, evaluate_all
from syncret.daemon.core.exports.outputs import Made, outputs, static_values
from syncret.daemon.core.exports.plan import ALL, plan
from syncret.daemon.core.exports.problems import ExportProblem, Failure
from syncret.daemon.core.exports.spec import read_exports
from syncret.providers.work import Work


class Export(NamedTuple):
    """The result of a resource's exports: the objects to write, or the problems."""

    hints: Sequence[str]
    made: Sequence[Made]
    """Empty where there is any problem."""
    problems: Sequence[ExportProblem]


def export(resource: Document, secrets: Mapping[str, str], work: Work) -> Export:
    """The objects of a resource whose secret APIs return these secrets; only those it needs are used."""
    exports = read_exports(resource)
    texts = tuple(each.text for each in exports.expressions)
    (checked,) = check_all([texts], work)
    verdict = plan(exports, checked)
    if verdict.problems:
        return Export((), (), verdict.problems)
    used = needed(verdict.hints, secrets)
    (results,) = evaluate_all([Evaluation(encoded(resource), used, texts)], work) if texts else ([],)
    pairs = zip(exports.expressions, () if isinstance(checked, Failure) else checked, strict=True)
    secretive = {expression.path for expression, each in pairs if each.hints}
    found = outputs(exports, results, static_values(exports, resource, used), secretive)
    return Export(verdict.hints, found.made, found.problems)


def needed(hints: Sequence[str], secrets: Mapping[str, str]) -> dict[str, str]:
    """The secrets that the hints name."""
    if ALL in hints:
        return dict(secrets)
    return {name: secrets[name] for name in hints if name in secrets}


def encoded(resource: Document) -> bytes:
    """The resource as JSON, also with numbers and texts that only YAML has."""
    try:
        return msgspec.json.encode(resource)
    except (OverflowError, UnicodeEncodeError):
        return json.dumps(resource, ensure_ascii=False).encode(errors="replace")
