"""The completion of bash, as a person at a terminal would ask for it."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.cli.parser.completion import bash

_COMPLETE: Final = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
compopt() {{ :; }}
_syncret
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(words: str, folder: Path, environment: Mapping[str, str] | None = None) -> list[str]:
    """What bash offers for the last of these words. The script is written to the folder."""
    script = folder / "syncret.bash"
    script.write_text(bash(parser()))
    code = _COMPLETE.format(script=script, words=words)
    ran = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True, env=environment)
    return ran.stdout.split()
