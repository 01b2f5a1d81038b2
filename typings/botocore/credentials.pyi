from typing import NamedTuple

class ReadOnlyCredentials(NamedTuple):
    access_key: str
    secret_key: str
    token: str | None
    account_id: str | None = None
