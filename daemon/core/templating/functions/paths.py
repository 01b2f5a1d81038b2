"""Paths with slashes: base, dir, clean, ext, isAbs; the `os` ones are the same where ESO runs."""

from typing import Final

from syncret.daemon.core.templating.functions.contract import FunctionTable, table


def base(path: str) -> str:
    if not path:
        return "."
    return path.rstrip("/").rpartition("/")[2] or "/"


def clean(path: str) -> str:
    """The shortest equal path, without `.`, and without `..` where something stands before it."""
    rooted = path.startswith("/")
    kept: list[str] = []
    for part in path.split("/"):
        if part in {"", "."}:
            continue
        if part != "..":
            kept.append(part)
        elif kept and kept[-1] != "..":
            kept.pop()
        elif not rooted:
            kept.append(part)
    return ("/" if rooted else "") + "/".join(kept) or "."


def directory(path: str) -> str:
    return clean(path[: path.rfind("/") + 1])


def ext(path: str) -> str:
    _, dot, extension = path.rpartition("/")[2].rpartition(".")
    return dot + extension if dot else ""


def is_abs(path: str) -> bool:
    return path.startswith("/")


FUNCTIONS: Final[FunctionTable] = table(
    {
        "base": base,
        "clean": clean,
        "dir": directory,
        "ext": ext,
        "isAbs": is_abs,
        "osBase": base,
        "osClean": clean,
        "osDir": directory,
        "osExt": ext,
        "osIsAbs": is_abs,
    }
)
