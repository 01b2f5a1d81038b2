"""The exit codes of all commands."""

from typing import Final

OK: Final = 0
"""All synced."""
FAILED: Final = 1
"""Some resource failed."""
INVALID: Final = 2
"""An invalid manifest, or wrong usage."""
UNUSABLE: Final = 3
"""The state or the target cannot be used."""
