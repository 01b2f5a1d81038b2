"""Errors as Google's APIs tell them: a JSON object with a code, a status and a message."""

import json
from typing import Any

from aiohttp import web

from tests.support.faults import Refusal

CODES = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
}


class GoogleError(Refusal):
    """One call failed. `reason` is that of the ErrorInfo among the details."""

    def __init__(self, status: str, message: str, *, reason: str = "") -> None:
        self.status = status
        self.message = message
        self.reason = reason
        super().__init__(message)

    def response(self, **headers: str) -> web.Response:
        error: dict[str, Any] = {"code": CODES[self.status], "message": self.message, "status": self.status}
        if self.reason:
            error["details"] = [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": self.reason,
                    "domain": "googleapis.com",
                    "metadata": {"service": "secretmanager.googleapis.com"},
                }
            ]
        text = json.dumps({"error": error}, indent=2)
        return web.Response(
            status=CODES[self.status], text=text, content_type="application/json", headers=headers
        )


class OAuthError(Exception):
    """A token endpoint refuses, in the words of RFC 6749."""

    def __init__(self, error: str, description: str) -> None:
        self.error = error
        self.description = description
        super().__init__(description)

    def response(self) -> web.Response:
        return web.json_response(
            {"error": self.error, "error_description": self.description},
            status=401 if self.error == "invalid_client" else 400,
        )
