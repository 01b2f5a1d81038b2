"""The codes in the errors of Azure's REST APIs. Their texts are not quoted."""

import msgspec

from syncret.providers.kit.http import Answer


class _Inner(msgspec.Struct):
    code: str = ""


class _Error(msgspec.Struct):
    code: str = ""
    innererror: _Inner | None = None


class _Failure(msgspec.Struct):
    error: _Error


def _error_in(answer: Answer) -> _Error:
    failure = answer.decode_if(_Failure)
    return failure.error if failure is not None else _Error()


def code_of(answer: Answer) -> str:
    """The code of an error; empty if the answer is not Azure's."""
    return _error_in(answer).code


def inner_code_of(answer: Answer) -> str:
    """The closer code that some errors have."""
    inner = _error_in(answer).innererror
    return inner.code if inner else ""


def is_absent(answer: Answer) -> bool:
    """Whether Azure itself says that something does not exist."""
    return code_of(answer).endswith("NotFound")
