"""GitHub Actions secrets, which can be written, not read back."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.github.spec import GithubSpec

PROVIDER: Final = Provider(SpecType("github", GithubSpec))
