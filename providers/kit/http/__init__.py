"""HTTP for providers: one `Http` per session, bounded in size and time; failures are SyncErrors.

async with Http(spec.url, tls=Tls(ca=bundle), network=context.network) as http:
    answer = await http.request("GET", "/v1/secrets/a", doing="reading key a", accept=(404,))
    found = None if answer.status == 404 else answer.json()
"""

from syncret.providers.answer_memory import TooLarge
from syncret.providers.kit.http.answers import (
    Answer,
    Body,
    NoAddress,
    Unauthenticated,
    form_body,
    json_body,
    segments,
)
from syncret.providers.kit.http.bodies import LARGEST
from syncret.providers.kit.http.client import CONNECTIONS, Http, Timeouts
from syncret.providers.kit.http.tls import Tls

__all__ = [
    "CONNECTIONS",
    "LARGEST",
    "Answer",
    "Body",
    "Http",
    "NoAddress",
    "Timeouts",
    "Tls",
    "TooLarge",
    "Unauthenticated",
    "form_body",
    "json_body",
    "segments",
]
