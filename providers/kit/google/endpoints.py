"""The endpoints of Google's services, which variables of the environment may override.

Only the operator of the daemon can override them; a store cannot, as an endpoint receives tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

CLOUD_PLATFORM: Final = "https://www.googleapis.com/auth/cloud-platform"

_OVERRIDE: Final = "CLOUDSDK_API_ENDPOINT_OVERRIDES_"
"""The prefix of gcloud's variables for private endpoints and proxies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """Addresses without a trailing slash. The universe differs in sovereign clouds only."""

    universe: str = "googleapis.com"
    secret_manager: str = ""
    """Replaces the global endpoint and all regional ones."""
    iam_credentials: str = ""
    sts: str = ""
    secure_token: str = ""
    metadata: str = "http://169.254.169.254"
    aws_metadata: str = "http://169.254.169.254"

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Endpoints":
        """The endpoints by the variables of Google's and AWS's own tools."""
        universe = environment.get("GOOGLE_CLOUD_UNIVERSE_DOMAIN") or cls().universe
        host = environment.get("GCE_METADATA_HOST")
        aws = environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT")

        def service(name: str) -> str:
            moved = environment.get(_OVERRIDE + name.upper()) or f"https://{name}.{universe}"
            return moved.rstrip("/")

        return cls(
            universe=universe,
            secret_manager=environment.get(f"{_OVERRIDE}SECRETMANAGER", "").rstrip("/"),
            iam_credentials=service("iamcredentials"),
            sts=service("sts"),
            secure_token=service("securetoken"),
            metadata=f"http://{host}" if host else cls().metadata,
            aws_metadata=aws.rstrip("/") if aws else cls().aws_metadata,
        )

    def secrets_of(self, location: str) -> str:
        """Secret Manager's address for the secrets of a location (empty: global ones)."""
        place = f"{location}.rep." if location else ""
        return self.secret_manager or f"https://secretmanager.{place}{self.universe}"

    def impersonation(self, email: str) -> str:
        """The address that issues tokens of a service account."""
        return f"{self.iam_credentials}/v1/projects/-/serviceAccounts/{email}:generateAccessToken"

    def signing(self, email: str) -> str:
        """The address that signs JWTs of a service account."""
        return f"{self.iam_credentials}/v1/projects/-/serviceAccounts/{email}:signJwt"

    def with_overrides(self, url: str) -> str:
        """An address of a credential file, with our override of its service."""
        places = {
            f"https://sts.{self.universe}/": f"{self.sts}/",
            f"https://iamcredentials.{self.universe}/": f"{self.iam_credentials}/",
            "http://169.254.169.254/latest/": f"{self.aws_metadata}/latest/",
        }
        for usual, override in places.items():
            if url.startswith(usual):
                return override + url.removeprefix(usual)
        return url
