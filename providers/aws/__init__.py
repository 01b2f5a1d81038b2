"""Amazon Web Services: Secrets Manager, Parameter Store and Certificate Manager."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.aws.spec import AwsSpec, check
from syncret.providers.contract import Provider

PROVIDER: Final = Provider(SpecType("aws", AwsSpec, check=check))
