"""GitHub Actions secrets, which can be written, not read back; and tokens of an App.

spec          the spec of a store                client      the endpoints, the client of a store
connection    opens a store                      sealed_box  how values are encrypted
access_token  the generator GithubAccessToken    app         the App's key and the tokens of installations
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.github.spec import GithubSpec, published_rate

PROVIDER: Final = Provider(
    SpecType("github", GithubSpec),
    open=OnFirstUse("syncret.providers.github.connection"),
    published_rate=published_rate,
)
