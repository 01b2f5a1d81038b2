"""regexMatch, regexFindAll, regexSplit, regexReplaceAll and others: RE2 with Go's rules for matches and `$1`.

An expression sees a stray byte as the replacement character; a match contains the byte itself.
"""

from itertools import islice
from typing import Final

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.text.layout import normal, runes, size_of
from syncret.daemon.core.templating.golang import types
from syncret.daemon.core.templating.golang.errors import FunctionError
from syncret.daemon.core.templating.golang.values import TypedList, strings
from syncret.providers.kit.golang import regexp

_QUOTED: Final = {ord(char): f"\\{char}" for char in r"\.+*?()|[]{}^$"}


def _compiled(context: Context, expression: str) -> regexp.Pattern:
    try:
        return regexp.compile(expression, context.budget)
    except regexp.PatternError:
        pass
    # Raised outside of the `except`: the library's error quotes the expression.
    raise FunctionError("the regular expression is malformed")


def _spans(context: Context, expression: str, text: str, limit: int) -> list[tuple[int, int]]:
    """The positions of the matches, at most `limit` of them unless that is negative."""
    pattern = _compiled(context, expression)
    if limit == 0:
        return []
    return list(islice(pattern.spans(runes(text), context.budget), limit if limit > 0 else None))


def regex_match(context: Context, expression: str, text: str) -> bool:
    """A malformed expression matches nothing."""
    try:
        pattern = regexp.compile(expression, context.budget)
    except regexp.PatternError:
        return False
    return pattern.search(runes(text), context.budget)


def must_regex_match(context: Context, expression: str, text: str) -> bool:
    return _compiled(context, expression).search(runes(text), context.budget)


def regex_find(context: Context, expression: str, text: str) -> str:
    text = normal(text)
    return next((text[start:end] for start, end in _spans(context, expression, text, 1)), "")


def regex_find_all(context: Context, expression: str, text: str, limit: int) -> TypedList:
    text = normal(text)
    spans = _spans(context, expression, text, limit)
    return strings(text[start:end] for start, end in spans) if spans else _nil_strings()


def _nil_strings() -> TypedList:
    return TypedList(types.STRINGS, is_nil=True)


def regex_split(context: Context, expression: str, text: str, limit: int) -> TypedList:
    pattern_is_empty = not expression
    text = normal(text)
    spans = _spans(context, expression, text, limit)
    if limit == 0:
        return _nil_strings()
    if not text and not pattern_is_empty:
        return strings([""])
    parts: list[str] = []
    done = end = 0
    for start, after in spans:
        if len(parts) == limit - 1:
            break
        end = start
        if after:
            parts.append(text[done:start])
        done = after
    if end != len(text):
        parts.append(text[done:])
    return strings(parts)


def regex_replace_all(context: Context, expression: str, text: str, replacement: str) -> str:
    pattern = _compiled(context, expression)
    text, replacement = normal(text), normal(replacement)
    return pattern.replace_all(text, replacement, context.budget)


def regex_replace_all_literal(context: Context, expression: str, text: str, replacement: str) -> str:
    text = normal(text)
    spans = _spans(context, expression, text, -1)
    context.budget.make(size_of(text) + len(spans) * size_of(replacement))
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        pieces += (text[done:start], replacement)
        done = end
    return "".join([*pieces, text[done:]])


def regex_quote_meta(text: str) -> str:
    return text.translate(_QUOTED)


FUNCTIONS: Final[FunctionTable] = table(
    {
        "mustRegexFind": regex_find,
        "mustRegexFindAll": regex_find_all,
        "mustRegexMatch": must_regex_match,
        "mustRegexReplaceAll": regex_replace_all,
        "mustRegexReplaceAllLiteral": regex_replace_all_literal,
        "mustRegexSplit": regex_split,
        "regexFind": regex_find,
        "regexFindAll": regex_find_all,
        "regexMatch": regex_match,
        "regexQuoteMeta": regex_quote_meta,
        "regexReplaceAll": regex_replace_all,
        "regexReplaceAllLiteral": regex_replace_all_literal,
        "regexSplit": regex_split,
    }
)
