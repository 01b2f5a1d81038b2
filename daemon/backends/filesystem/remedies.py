"""What helps where manifests cannot be read: another thing for who looks once than for who keeps looking."""

from msgspec.structs import replace

from syncret.config.errors import Problem
from syncret.config.files import what_it_is


class Remedies:
    """Puts the remedy that fits into problems of files and folders."""

    def __init__(self, *, once: bool, former: bool) -> None:
        """As `ManifestFolders` has them."""
        self.once = once
        self._former = former

    def of_path(self, problem: Problem) -> Problem:
        """Of a path that the operator named."""
        if self.once:
            return self.of_file(problem)
        hint = "what it said last stays in force until it can be read, or is removed from the settings"
        return replace(problem, hint=hint)

    def of_file(self, problem: Problem) -> Problem:
        """Of what was found in a folder."""
        if self.once and not self._former:
            return problem
        return replace(problem, hint=f"what it said last stays in force; {problem.hint}")


def followed(mode: int) -> Problem:
    """Of a pipe or a device that is to be followed."""
    return Problem(
        path="",
        message=f"is {what_it_is(mode)}: it cannot be read again and again",
        hint="name a file or a folder; `syncret sync` reads a pipe, once",
    )
