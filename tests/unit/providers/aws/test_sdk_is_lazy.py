"""The SDK of AWS is in no process that has no AWS store."""

import subprocess
import sys

PROBE = """
import sys
from syncret.config.schema.admission import admit
from syncret.daemon.cli.commands.providers import generator_rows, provider_rows
from syncret.providers.registry import Registry

registry = Registry()
rows = {row.name: row for row in provider_rows(registry)}
list(generator_rows(registry))
assert rows["aws"].reachable
print([name for name in sys.modules if "boto" in name])
"""


def test_knowing_the_provider_imports_no_sdk() -> None:
    ran = subprocess.run([sys.executable, "-c", PROBE], check=True, capture_output=True, text=True)

    assert ran.stdout.strip() == "[]"
