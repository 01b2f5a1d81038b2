"""Translates the errors of the AWS SDK into ours, by a table. Only `sdk` imports it, as it loads the SDK."""

import re
import time
from collections.abc import Mapping
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
from botocore import exceptions as sdk
from botocore.parsers import ResponseParserError

from syncret.providers.aws.codes import error_of_code
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.kit.http.answers import retry_after
from syncret.providers.kit.translate import Translation

_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500

NO_CREDENTIALS: Final = "no AWS credentials were found"
NO_CREDENTIALS_HINT: Final = (
    "write auth into the store, or give the daemon a role, a profile or AWS_ variables"
)


def translations(region: str, regions: frozenset[str]) -> Mapping[type[BaseException], Translation]:
    """Our error for each error of a client of one region; `regions` are those that the SDK knows."""

    def unreachable(error: BaseException) -> SyncError:
        problem = f"{_endpoint(error)} cannot be reached"
        return Unavailable("AWS could not be reached", hint=_region_hint(region, regions), problem=problem)

    return {
        sdk.ClientError: _service_error,
        sdk.NoCredentialsError: _no_credentials,
        sdk.PartialCredentialsError: _no_credentials,
        sdk.ProfileNotFound: _no_credentials,
        sdk.CredentialRetrievalError: _credential_source_silent,
        sdk.MetadataRetrievalError: _credential_source_silent,
        sdk.SSLError: _untrusted,
        sdk.EndpointConnectionError: unreachable,
        sdk.ConnectTimeoutError: unreachable,
        sdk.ReadTimeoutError: _timed_out,
        sdk.ConnectionError: Unavailable,
        sdk.HTTPClientError: Unavailable,
        sdk.BotoCoreError: Malformed,
        ResponseParserError: _unreadable,
        # The SDK's parsers assume that JSON has the types of the API.
        **dict.fromkeys((AttributeError, LookupError, TypeError, ValueError), _unreadable),
        aiohttp.ClientError: Unavailable,
        OSError: Unavailable,
    }


def _service_error(error: BaseException) -> SyncError:
    assert isinstance(error, sdk.ClientError)  # noqa: S101  # the table says so
    details: dict[str, Any] = error.response.get("Error", {})
    about: dict[str, Any] = error.response.get("ResponseMetadata", {})
    code, status = str(details.get("Code", "")), int(about.get("HTTPStatusCode", 0))
    found = error_of_code(
        error.operation_name, _printable_code(code, status), str(details.get("Message", "")), status
    )
    if status == _TOO_MANY or isinstance(found, Throttled):
        return Throttled(
            f"{error.operation_name}: AWS asks for fewer calls",
            retry_after=retry_after(about.get("HTTPHeaders", {}).get("retry-after", ""), time.time),
        )
    if status >= _SERVER_ERROR and type(found) is Malformed:
        problem = f"AWS answers with HTTP {status}"
        return Unavailable(f"{error.operation_name} failed at AWS: HTTP {status}", problem=problem)
    return found


def _printable_code(code: str, status: int) -> str:
    """The code, if it looks like one of AWS: another server might put any text there."""
    return code if code.isalnum() and code[0].isupper() and len(code) < 80 else f"HTTP {status}"  # noqa: PLR2004


def _no_credentials(error: BaseException) -> SyncError:
    return Denied(f"{NO_CREDENTIALS} ({type(error).__name__})", hint=NO_CREDENTIALS_HINT)


def _credential_source_silent(error: BaseException) -> SyncError:
    return Unavailable(f"the source of the daemon's AWS credentials gave none ({type(error).__name__})")


def _untrusted(_error: BaseException) -> SyncError:
    return Unavailable(
        "the certificate of AWS's endpoint is not trusted",
        hint="behind a proxy that intercepts TLS, name its CA in AWS_CA_BUNDLE",
    )


_STRAY: Final = re.compile("[\ud800-\udfff]")
"""Halves of characters, which JSON can name, and which are no text."""

_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "structure": dict,
    "map": dict,
    "list": list,
    "string": str,
    "blob": bytes,
    "boolean": bool,
    "timestamp": datetime,
    **dict.fromkeys(("integer", "long", "float", "double"), (int, float)),
}
"""The Python types that the SDK returns for each type of the API."""


_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "SecretListEntry": ("Name",),
    "SecretValueEntry": ("Name",),
    "Parameter": ("Name", "Value"),
    "ParameterMetadata": ("Name",),
}
"""Members without which nothing can be made of an entry; the API's description requires none."""


def check_types(meta: Any, operation: str, answer: Any) -> None:  # noqa: ANN401  # of an SDK's client
    """Raise Malformed for an answer of other types than the API's: the SDK takes them as they come."""
    model = meta.service_model.operation_model(meta.method_to_api_mapping[operation])
    if model.output_shape is not None and not _conforms(model.output_shape, answer):
        raise _unreadable(ValueError())


def _conforms(shape: Any, value: Any) -> bool:  # noqa: ANN401  # as above
    """Whether a value has the type of its shape, and all in it; what the API does not know may be any."""
    conforming = isinstance(value, _TYPES.get(shape.type_name, object))
    if not conforming:
        return False
    match shape.type_name:
        case "structure":
            return all(name in value for name in _REQUIRED.get(shape.name, ())) and all(
                _conforms(shape.members[name], value[name]) for name in value if name in shape.members
            )
        case "map":
            return all(_conforms(shape.value, each) for each in value.values())
        case "list":
            return all(_conforms(shape.member, each) for each in value)
        case "string":
            return value.isascii() or _STRAY.search(value) is None
        case _:
            return True


def _timed_out(error: BaseException) -> SyncError:
    return Unavailable("AWS gave no answer in time", problem=f"{_endpoint(error)} gave no answer in time")


def _endpoint(error: BaseException) -> str:
    """The server that an error of the SDK names."""
    given: Mapping[str, object] = getattr(error, "kwargs", {})
    return urlsplit(str(given.get("endpoint_url", ""))).netloc.rpartition("@")[2] or "AWS"


def _unreadable(_error: BaseException) -> SyncError:
    return Malformed("the answer is not one of AWS's", hint="is there a proxy, or a wrong endpoint?")


def _region_hint(region: str, regions: frozenset[str]) -> str:
    if not regions or region in regions:
        return "is there a way from here to the endpoint of this region?"
    near = get_close_matches(region, regions, n=1)
    hint = f"did you mean {near[0]}?" if near else "region wants a code such as eu-west-1"
    return f"this build knows no region {region}: {hint}"
