"""Where there is nothing to take over from."""

import pytest

from syncret.daemon.cli.migration.effects import definitions_in
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.providers.registry import Registry


async def test_a_cluster_without_any_of_the_crds_is_most_likely_another_one() -> None:
    with pytest.raises(StorageUnavailable, match="none of the CRDs") as raised:
        await definitions_in(MemoryCluster(now=lambda: 0.0), Registry())
    assert "--context" in raised.value.hint
