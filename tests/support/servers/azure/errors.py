"""Errors as Key Vault and Microsoft Entra ID tell them."""

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.support.faults import Refusal


class VaultError(Refusal):
    """One call failed: status, code, and the code within that says more."""

    def __init__(self, status: int, code: str, message: str, inner: str = "") -> None:
        self.status = status
        self.code = code
        self.message = message
        self.inner = inner
        super().__init__(message)

    def response(self, headers: Mapping[str, str] | None = None) -> web.Response:
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.inner:
            error["innererror"] = {"code": self.inner}
        return web.json_response({"error": error}, status=self.status, headers=headers)


class Challenge(VaultError):
    """Who calls must show a token, or another one."""

    def __init__(self, message: str, where: Mapping[str, str]) -> None:
        super().__init__(401, "Unauthorized", message)
        self.where = where

    def response(self, headers: Mapping[str, str] | None = None) -> web.Response:
        return super().response({**self.where, **(headers or {})})


class EntraError(Exception):
    """No token, in the words of RFC 6749 and with Entra's own number."""

    def __init__(self, error: str, number: int, told: str) -> None:
        self.error = error
        self.number = number
        self.told = told
        super().__init__(told)

    def response(self) -> web.Response:
        told = {
            "error": self.error,
            "error_description": f"AADSTS{self.number}: {self.told} Trace ID: 0 Correlation ID: 0",
            "error_codes": [self.number],
            "timestamp": "2026-01-01 00:00:00Z",
            "trace_id": "0",
            "correlation_id": "0",
        }
        return web.json_response(told, status=401 if self.error == "invalid_client" else 400)


def bad(message: str) -> VaultError:
    """A parameter is not right."""
    return VaultError(400, "BadParameter", message)


def forbidden(message: str, inner: str = "ForbiddenByRbac") -> VaultError:
    return VaultError(403, "Forbidden", message, inner)
