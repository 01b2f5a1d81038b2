"""The endpoints of AWS's services, as the SDK has them."""

import pytest
from botocore.loaders import Loader

from syncret.providers.kit.auth.aws_requests import endpoint


def partitions() -> list[tuple[str, str]]:
    found = Loader().load_data("partitions")["partitions"]
    return [
        (region, partition["outputs"]["dnsSuffix"])
        for partition in found
        for region in partition["regions"]
        if not region.endswith("-global")
    ]


@pytest.mark.parametrize(("region", "suffix"), partitions())
def test_each_region_has_the_domain_of_its_partition(region: str, suffix: str) -> None:
    assert endpoint("sts", region) == f"https://sts.{region}.{suffix}"
