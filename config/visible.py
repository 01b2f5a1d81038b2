"""Texts of others on a terminal: shown, never obeyed."""


def visible(text: str) -> str:
    """A text on one line; characters that steer a terminal are escaped: names may come from anybody."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
