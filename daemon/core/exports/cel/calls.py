"""The two calls that are made in a worker process: check expressions, and evaluate them.

The author of a resource decides what they cost, and the engine holds Python's lock and does not limit memory.
It is imported in the call: the daemon itself never loads it.
"""

from collections.abc import Sequence

import msgspec

from syncret.daemon.core.exports.cel.messages import Checked, Evaluation, Result, Text


def check(texts: Sequence[Sequence[object]]) -> list[list[Checked]]:
    """Check the expressions (`Text`) of each resource; without any, the engine is only loaded."""
    from syncret.daemon.core.exports.cel import programs

    return [[programs.check(each) for each in group] for group in msgspec.convert(texts, list[list[Text]])]


def evaluate(evaluations: Sequence[object]) -> list[list[Result]]:
    """The results of each resource's expressions (`Evaluation`), in their order."""
    from syncret.daemon.core.exports.cel import programs

    return [programs.evaluate(each) for each in msgspec.convert(evaluations, list[Evaluation])]
