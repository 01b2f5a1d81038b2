"""Error codes of AWS as our errors. A message quotes only the code, never AWS's text."""

from typing import Final

from syncret.providers.aws.service import Absent, Expired, Forbidden, RefusedKeys, WrongSignature
from syncret.providers.errors import Malformed, SyncError, Throttled, Unavailable

_ABSENT: Final = frozenset({"ResourceNotFoundException", "ParameterNotFound", "InvalidResourceId"})
_NO_SUCH_VERSION: Final = frozenset({"ParameterVersionNotFound"})
"""The entry exists: nothing was deleted."""

_EXPIRED: Final = frozenset({"ExpiredToken", "ExpiredTokenException", "RequestExpired"})
_UNKNOWN_KEY: Final = frozenset(
    {
        "IncompleteSignature",
        "InvalidClientTokenId",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "UnrecognizedClientException",
    }
)
_WRONG_SIGNATURE: Final = frozenset({"InvalidSignatureException", "SignatureDoesNotMatch"})
_DENIED: Final = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthFailure",
        "IDPRejectedClaim",
        "InvalidIdentityToken",
        "NotAuthorized",
        "OptInRequired",
        "RegionDisabledException",
        "UnauthorizedException",
        "UnauthorizedOperation",
    }
)
_THROTTLED: Final = frozenset(
    {
        "PriorRequestNotComplete",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
_UNAVAILABLE: Final = frozenset(
    {
        "IDPCommunicationError",
        "InternalError",
        "InternalFailure",
        "InternalServerError",
        "InternalServiceError",
        "RequestInProgressException",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
    }
)
_CONFLICT: Final = frozenset({"ParameterAlreadyExists", "ResourceExistsException", "TooManyUpdates"})
"""Concurrent writes of the same entry: a retry sees the new state."""

_REFUSED_ACT: Final = frozenset({"InvalidRequestException", "InvalidParameterException"})
_MARKED_FOR_DELETION: Final = ("marked for deletion", "marked deleted")
"""Phrases in the text of the one error that means absence and has no code of its own."""


_REFUSALS: Final[tuple[tuple[frozenset[str], type[SyncError], str], ...]] = (
    (_NO_SUCH_VERSION, Malformed, "there is no such version or label: correct remoteRef.version"),
    (_EXPIRED, Expired, "the credentials have expired: replace them, or give a role instead"),
    (_UNKNOWN_KEY, RefusedKeys, "AWS does not know these credentials"),
    (_WRONG_SIGNATURE, WrongSignature, "the key does not belong to the ID, or the clock is wrong"),
    (_DENIED, Forbidden, "an IAM policy (of the role, the secret or its key) does not allow this act"),
)


def error_of_code(operation: str, code: str, text: str = "", status: int = 0) -> SyncError:
    """The error for one code; `text` is AWS's message, which is inspected and never quoted."""
    message = f"{operation} was refused: {code}" + (f" (HTTP {status})" if status else "")
    if code in _ABSENT or (code in _REFUSED_ACT and any(words in text for words in _MARKED_FOR_DELETION)):
        return Absent(f"{operation}: {code}")
    for codes, refusal, hint in _REFUSALS:
        if code in codes:
            return refusal(message, hint=hint)
    if code in _THROTTLED:
        return Throttled(f"{operation}: AWS asks for fewer calls ({code})")
    if code in _UNAVAILABLE:
        return Unavailable(f"{operation} failed at AWS: {code}", problem=f"AWS answers with {code}")
    if code in _CONFLICT:
        return Unavailable(f"{operation}: another program changed it at the same time ({code})")
    return Malformed(message)
