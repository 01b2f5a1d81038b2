from aiohttp import ClientResponse

class AioAWSResponse:
    raw: ClientResponse
    _content: bytes | None
