import subprocess
import sys

SCRIPT = """
import resource
from syncret.daemon.process import raise_limit
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 512))
for _ in range(2):
    raise_limit()
    print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def test_the_soft_limit_is_raised_to_the_hard_one() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["512"] * 4
