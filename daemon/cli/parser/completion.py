"""Completion scripts for bash, zsh and fish, generated from the parser."""

from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final, NamedTuple, cast

from syncret.config.resources.kinds import SHOWN_ON_HOST
from syncret.daemon.cli.parser.options import KIND_NAME, NAME, NAMESPACE

PATHS: Final = {"PATH", "FILE"}
FOLDERS: Final = {"DIR"}
KINDS: Final = tuple(f"{kind.kind}/" for kind in SHOWN_ON_HOST)
KIND_OR_SHELL: Final = "KIND|SHELL"
OBJECTS: Final = {KIND_NAME, NAME, NAMESPACE}
"""What the names of a running daemon may stand for."""


class Word(NamedTuple):
    """One flag or argument: its spellings, its possible values, and its help."""

    spellings: tuple[str, ...]
    choices: tuple[str, ...]
    metavar: str
    takes_value: bool
    text: str


class Command(NamedTuple):
    """One command with its flags and arguments, its help and its examples."""

    name: str
    text: str
    description: str
    examples: tuple[str, ...]
    flags: tuple[Word, ...]
    arguments: tuple[Word, ...]


def commands_of(parser: ArgumentParser) -> Iterator[Command]:
    """Every command of the parser, in the order of the help."""
    for action in parser._actions:  # noqa: SLF001  # argparse has no public way to read a parser
        for choice in getattr(action, "_choices_actions", ()):
            parsers = cast("dict[str, ArgumentParser]", action.choices)
            own = parsers[choice.dest]
            examples = tuple(line.strip() for line in (own.epilog or "").splitlines()[1:])
            yield Command(choice.dest, str(choice.help), own.description or "", examples, *_words(own))


def _words(parser: ArgumentParser) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    shown = [action for action in parser._actions if action.help != SUPPRESS]  # noqa: SLF001  # as above
    words = [_word(action) for action in shown]
    flags = tuple(word for word in words if word.spellings)
    return flags, tuple(word for word in words if not word.spellings)


def _word(action: Action) -> Word:
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest
    choices = tuple(map(str, action.choices)) if action.choices else ()
    return Word(
        tuple(action.option_strings), choices, metavar, action.nargs != 0, " ".join(str(action.help).split())
    )


_BASH_OBJECTS: Final = """\
_syncret_objects() {
  local word
  while IFS= read -r word; do
    [[ "$word" == "$current"* ]] && COMPREPLY+=("$word")
  done < <(syncret __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
"""
_ZSH_OBJECTS: Final = """\
_syncret_objects() {
  local -a found
  found=(${(f)"$(syncret __complete "${(@Q)words[1,CURRENT]}" 2>/dev/null)"})
  compadd -- $found
  [[ "$1" == kinds ]] && compadd -S '' -- %s
}
"""
_FISH_OBJECTS: Final = """\
function __syncret_objects
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    syncret __complete $before[2..-1] "$current" 2>/dev/null
end
"""
_FISH_CALL: Final = "(__syncret_objects)"
"""What asks the program for the names that a running daemon knows."""


def bash(parser: ArgumentParser) -> str:
    """For bash; `complete -F` needs nothing of bash-completion."""
    lines = [
        "# bash completion for syncret",
        *_BASH_OBJECTS.splitlines(),
        "_syncret() {",
        '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" command="" word',
        '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
        '    case "$word" in',
        f"      {'|'.join(command.name for command in commands_of(parser))}) command=$word; break ;;",
        "    esac",
        "  done",
        '  case "$command $previous" in',
    ]
    for command in commands_of(parser):
        for flag in command.flags:
            if flag.takes_value:
                pattern = " | ".join(f'"{command.name} {spelling}"' for spelling in flag.spellings)
                lines.append(f"    {pattern}) {_bash_value(flag)}; return ;;")
        if any(word.metavar == KIND_OR_SHELL for word in command.arguments):
            for before, values in _after().items():
                words = f'$(compgen -W "{" ".join(values)}" -- "$current")'
                lines.append(f'    "{command.name} {before}") COMPREPLY=({words}); return ;;')
    lines += ["  esac", '  case "$command" in']
    for command in commands_of(parser):
        words = " ".join(_offered(command))
        files = ' $(compgen -f -- "$current")' if any(_is_path(word) for word in command.arguments) else ""
        objects = "; _syncret_objects" if any(word.metavar in OBJECTS for word in command.arguments) else ""
        lines.append(
            f'    {command.name}) COMPREPLY=($(compgen -W "{words}" -- "$current"){files}){objects} ;;'
        )
    top = " ".join([command.name for command in commands_of(parser)] + ["--help", "--version"])
    lines += [f'    *) COMPREPLY=($(compgen -W "{top}" -- "$current")) ;;', "  esac"]
    lines += ['  [[ "${COMPREPLY[0]}" == */ ]] && compopt -o nospace', "  return 0"]
    return "\n".join([*lines, "}", "complete -F _syncret syncret", ""])


def _bash_value(flag: Word) -> str:
    if flag.choices:
        return f'COMPREPLY=($(compgen -W "{" ".join(flag.choices)}" -- "$current"))'
    if flag.metavar in OBJECTS:
        return "_syncret_objects"
    if flag.metavar in FOLDERS:
        return 'COMPREPLY=($(compgen -d -- "$current"))'
    return 'COMPREPLY=($(compgen -f -- "$current"))' if _is_path(flag) else "COMPREPLY=()"


def zsh(parser: ArgumentParser) -> str:
    """For zsh, as a function of its completion system."""
    objects = (_ZSH_OBJECTS % " ".join(KINDS)).splitlines()
    lines = ["#compdef syncret", *objects, "_syncret() {", "  local -a commands", "  commands=("]
    lines += [f"    {_quoted(f'{command.name}:{command.text}')}" for command in commands_of(parser)]
    lines += ["  )", "  if (( CURRENT == 2 )); then", "    _describe command commands"]
    lines += ["    _arguments '--help[show help]' '--version[print the version]'", "    return", "  fi"]
    lines += ["  local command=$words[2]", "  shift words", "  (( CURRENT-- ))", "  case $command in"]
    for command in commands_of(parser):
        lines.append(f"    {command.name}) _arguments \\")
        specs = [spec for flag in command.flags for spec in _zsh_flag(flag)]
        specs += [f":{word.metavar.lower()}:{_zsh_values(word)}" for word in command.arguments]
        lines += [f"      {_quoted(spec)} \\" for spec in specs[:-1]]
        lines += [f"      {_quoted(specs[-1])} ;;"]
    lines += [
        "  esac",
        "}",
        'if [[ "$funcstack[1]" == _syncret ]]; then _syncret "$@"; else compdef _syncret syncret; fi',
    ]
    return "\n".join([*lines, ""])


def _zsh_flag(flag: Word) -> Iterator[str]:
    text = flag.text.replace("[", "(").replace("]", ")").replace(":", "\\:")
    for spelling in flag.spellings:
        value = f":{flag.metavar.lower()}:{_zsh_values(flag)}" if flag.takes_value else ""
        yield f"*{spelling}[{text}]{value}"


def _zsh_values(word: Word) -> str:
    if word.choices:
        return f"({' '.join(word.choices)})"
    if word.metavar in OBJECTS:
        return "{_syncret_objects kinds}" if word.metavar == KIND_NAME else "{_syncret_objects}"
    if word.metavar == KIND_OR_SHELL:
        return f"({' '.join(chain.from_iterable(_after().values()))})"
    if word.metavar in FOLDERS:
        return "_files -/"
    return "_files" if _is_path(word) else " "


def fish(parser: ArgumentParser) -> str:
    """For fish."""
    lines = ["# fish completion for syncret", *_FISH_OBJECTS.splitlines(), "complete -c syncret -f"]
    for command in commands_of(parser):
        text = _quoted(command.text)
        lines.append(f"complete -c syncret -n __fish_use_subcommand -a {command.name} -d {text}")
    for command in commands_of(parser):
        condition = f"complete -c syncret -n '__fish_seen_subcommand_from {command.name}'"
        lines += [f"{condition} {_fish_flag(flag)}" for flag in command.flags]
        for word in command.arguments:
            if word.metavar == KIND_OR_SHELL:
                for before, values in _after().items():
                    after = f"complete -c syncret -n '__fish_seen_subcommand_from {before}'"
                    lines.append(f"{after} -a {_quoted(' '.join(values))}")
                continue
            if _is_path(word):
                lines.append(f"{condition} -F")
                continue
            offers = [*word.choices, *(KINDS if word.metavar == KIND_NAME else ())]
            offers += [_FISH_CALL] if word.metavar in OBJECTS else []
            lines.append(f"{condition} -a {_quoted(' '.join(offers))}")
    return "\n".join([*lines, ""])


def _fish_flag(flag: Word) -> str:
    names = [f"-l {each[2:]}" if each.startswith("--") else f"-s {each[1:]}" for each in flag.spellings]
    value = ""
    if flag.choices:
        value = f" -x -a {_quoted(' '.join(flag.choices))}"
    elif flag.takes_value:
        value = " -r -F" if _is_path(flag) or flag.metavar in FOLDERS else " -x"
    if flag.metavar in OBJECTS:
        value = f" -x -a {_quoted(_FISH_CALL)}"
    return f"{' '.join(names)}{value} -d {_quoted(flag.text)}"


def _offered(command: Command) -> list[str]:
    """What can be typed where no value of a flag is expected."""
    words = [spelling for flag in command.flags for spelling in flag.spellings if spelling.startswith("--")]
    for word in command.arguments:
        words += KINDS if word.metavar == KIND_NAME else word.choices
    return words


def _after() -> dict[str, tuple[str, ...]]:
    """What follows on each document of `export` that takes a name: all kinds that are installed here."""
    from syncret.config.resources.kinds import Kinds
    from syncret.providers.registry import Registry  # other commands offer no kinds of other packages

    return {"schema": tuple(each.kind for each in Kinds(Registry()).known()), "completion": tuple(SHELLS)}


def _is_path(word: Word) -> bool:
    return word.metavar in PATHS


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


SHELLS: Final[dict[str, Callable[[ArgumentParser], str]]] = {"bash": bash, "zsh": zsh, "fish": fish}
