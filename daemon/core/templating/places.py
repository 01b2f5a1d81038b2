"""Positions in a template, whose line and column are computed only on demand."""

from typing import NamedTuple

from syncret.daemon.core.templating.errors import TemplateError


class Place(NamedTuple):
    """A position, in characters, in the text of the template of this name."""

    name: str
    text: str
    position: int

    def error(self, message: str, function: str = "") -> TemplateError:
        """What happened here."""
        line = self.text.count("\n", 0, self.position) + 1
        column = self.position - self.text.rfind("\n", 0, self.position)
        return TemplateError(message, name=self.name, line=line, column=column, function=function)
