"""toYaml and fromYaml; the JSON functions are in json_text."""

from typing import Final, cast

from syncret.daemon.core.templating.functions.contract import Context, FunctionTable, table
from syncret.daemon.core.templating.functions.yaml_read import YamlError, load
from syncret.daemon.core.templating.functions.yaml_write import to_yaml
from syncret.daemon.core.templating.values import Value

_KINDS: Final = ((str, "string"), (bool, "bool"), (float, "number"), (list, "array"))


def from_yaml(context: Context, text: str) -> dict[str, Value]:
    """The map that a document holds; for anything else, a map with the complaint under `Error`."""
    try:
        loaded = load(context.budget, text)
    except YamlError as error:
        return {"Error": str(error)}
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        found = next(name for kind, name in _KINDS if isinstance(loaded, kind))
        problem = f"json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        return {"Error": f"error unmarshaling JSON: while decoding JSON: {problem}"}
    return cast("dict[str, Value]", loaded)


FUNCTIONS: Final[FunctionTable] = table({"fromYaml": from_yaml, "toYaml": to_yaml})
