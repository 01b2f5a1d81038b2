"""Makes text from elsewhere safe to show on a terminal."""


def printable(text: str) -> str:
    """The text on one line, with control characters escaped: names come from untrusted input."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
