"""The folder of Secrets, written both ways."""

import pytest

from syncret.daemon.homes.filesystem.output.root import OutputSettings
from syncret.daemon.homes.filesystem.output.secret_folder import SecretFolder
from tests.unit.daemon.homes.filesystem.output.folders import Opener


@pytest.fixture(params=[True, False], ids=["swap", "file-by-file"])
def folder(request: pytest.FixtureRequest, open_tree: Opener) -> SecretFolder:
    return SecretFolder(open_tree(OutputSettings(fsync=False, exchange=request.param)))
