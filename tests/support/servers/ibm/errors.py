"""Errors as IBM Cloud tells them: Secrets Manager's, and those of IAM."""

from aiohttp import web

from tests.support.faults import Refusal

STATUSES = {
    "bad_request": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "gone": 410,
    "precondition_failed": 412,
    "too_many_requests": 429,
    "internal_server_error": 500,
}


class IbmError(Refusal):
    """One call of Secrets Manager failed."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)

    def response(self, **headers: str) -> web.Response:
        error = {
            "code": self.code,
            "message": self.message,
            "more_info": "https://cloud.ibm.com/apidocs/secrets-manager/secrets-manager-v2",
        }
        status = STATUSES[self.code]
        told = {"errors": [error], "status_code": status, "trace": "6d9f0f2c-5d0e-4b3e-9a57-1f7f8a0f5c11"}
        return web.json_response(told, status=status, headers=headers)


class IamError(Refusal):
    """IAM gives no token."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        self.code = code
        self.message = message
        self.status = status
        super().__init__(message)

    def response(self) -> web.Response:
        told = {
            "errorCode": self.code,
            "errorMessage": self.message,
            "context": {"requestId": "cGI3bGc-0", "requestType": "incoming.Identity_Token"},
        }
        return web.json_response(told, status=self.status)
