"""Where Google's services are: at their usual names, unless the environment says otherwise.

Only whoever runs the daemon can move them. A store cannot: whoever says where a service is receives tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

CLOUD_PLATFORM: Final = "https://www.googleapis.com/auth/cloud-platform"

_OVERRIDE: Final = "CLOUDSDK_API_ENDPOINT_OVERRIDES_"
"""gcloud's own variables for a private endpoint or a proxy of one's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """Addresses without a slash at the end. The universe is another one in sovereign clouds only."""

    universe: str = "googleapis.com"
    secret_manager: str = ""
    """In place of the global and all regional ones."""
    iam_credentials: str = ""
    sts: str = ""
    secure_token: str = ""
    metadata: str = "http://169.254.169.254"
    aws_metadata: str = "http://169.254.169.254"

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Endpoints":
        """As the variables say that Google's and AWS's own tools read."""
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
        """Secret Manager's address for the secrets of a location (empty: for global ones)."""
        place = f"{location}.rep." if location else ""
        return self.secret_manager or f"https://secretmanager.{place}{self.universe}"

    def impersonation(self, email: str) -> str:
        """Where tokens of a service account are given out."""
        return f"{self.iam_credentials}/v1/projects/-/serviceAccounts/{email}:generateAccessToken"

    def signing(self, email: str) -> str:
        """Where a service account has JWTs signed."""
        return f"{self.iam_credentials}/v1/projects/-/serviceAccounts/{email}:signJwt"

    def with_overrides(self, url: str) -> str:
        """An address that a credential file names, at where its service is for us."""
        places = {
            f"https://sts.{self.universe}/": f"{self.sts}/",
            f"https://iamcredentials.{self.universe}/": f"{self.iam_credentials}/",
            "http://169.254.169.254/latest/": f"{self.aws_metadata}/latest/",
        }
        for usual, override in places.items():
            if url.startswith(usual):
                return override + url.removeprefix(usual)
        return url
