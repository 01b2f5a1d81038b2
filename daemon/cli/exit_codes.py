"""The exit codes of all commands."""

from typing import Final

OK: Final = 0
"""Everything is in order."""
FAILED: Final = 1
"""A resource failed."""
INVALID: Final = 2
"""An invalid manifest, or wrong usage."""
UNUSABLE: Final = 3
"""The state or the target cannot be used."""
