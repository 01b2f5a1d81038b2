"""Documents and paths for gjson, right and wrong."""

import json
from random import Random
from typing import Final

DOCUMENT: Final = """{"name": {"first": "Tom", "last": "Anderson"},"age":37,
  "children": ["Sara","Alex","Jack"], "fav.movie": "Deer Hunter", "friends": [
    {"first": "Dale", "last": "Murphy", "age": 44, "nets": ["ig", "fb", "tw"]},
    {"first": "Roger", "last": "Craig", "age": 68, "nets": ["fb", "tw"]},
    {"first": "Jane", "last": "Murphy", "age": 47, "nets": ["ig", "tw"]} ],
  "n":1.50,"big":12345678901234567890,"e":1e21,"neg":-5,"t":true,"f":false,"z":null,
  "esc":"a\\"b\\\\c\\u00e9\\ud83d\\ude00\\ud800x","arr":[1,[2],[3,4],[5,[6,7]]],
  "vals":[{"a":1,"b":"data"},{"a":2,"b":true},{"a":3,"b":false},{"a":4,"b":"0"},{"a":5,"b":0},{"a":6,"b":"1"},
    {"a":7,"b":1},{"a":8,"b":"true"},{"a":10,"b":null},{"a":11}],
  "inner":"{\\"id\\":1,\\"x\\":[1,2]}", "empty":{}, "emptya":[], "g":{"id":["1","2","3"],"val":[1,2,3]},
  "o":[{"p":1,"q":2},{"p":3,"r":"x"}], "a*b":7,"a?b":8,"ab":9,"a|b":"pipe","@this":"at","x<y>&":1}"""
_OTHERS: Final = (
    "[1,2,3]", '["a",{"b":1},[2]]', "", "static", '"str"', "5", '{"a":1', "[1,2",
    '{"a":{"b":[1,{"c":"d"}]}} trailing', 'foo {"x":1}', '{"a":1,"a":2}', '{"a":nul}',
    '{"a":NaN,"b":inf,"c":+5}', ' [ {"first":"x" } , {"first" : "y"} ] ',
)  # fmt: skip
PATHS: Final = (
    "name.last", "age", "children", "children.0", "friends.1.first", "child*.2", "c?ildren.0", r"fav\.movie",
    "friends.#", "friends.#.age", 'friends.#(last=="Murphy").first', 'friends.#(last=="Murphy")#.first',
    "friends.#(age>45)#.last", 'friends.#(first%"D*").last', 'friends.#(first!%"D*").last',
    'children.#(!%"*a*")', 'children.#(%"*a*")#', 'friends.#(nets.#(=="fb"))#.first', "vals.#(b==~true)#.a",
    "vals.#(b==~false)#.a", "vals.#(b==~null)#.a", "vals.#(b==~*)#.a", "vals.#(b!=~*)#.a",
    "children.@reverse", "@this", "@valid", "arr.@flatten", 'arr.@flatten:{"deep":true}', "name.@keys",
    "name.@values", "o.@join", 'o.@join:{"preserve":true}', "g.@group", "name.@tostr", "inner.@fromstr",
    "inner.@fromstr.x.1", "@dig:age", "@dig:first", "name.@ugly", "@ugly",
    '{name.first,age,"the_murphys":friends.#(last=="Murphy")#.first}', "[name.first,age]",
    "{name.first,age,z}", '{name.first,"company":!"Happysoft","employed":!true}', '{"a":!5,"b":![1,2]}',
    '!"x"', "!true", "{friends.#.first}", "children.[0,1]", "name.{first,last}.last", "friends.#.{first,age}",
    "n", "big", "e", "neg", "t", "f", "z", "esc", "arr", "arr.3.1.0", "arr.9", "nope", "name.nope", "empty",
    "emptya.#", "emptya.#(a==1)#", r"a\*b", "a*b", "*", "*.first", "*.0", "@nope", r"\@this", "..#",
    "..0.age", "..1", "x<y>&", r"a\|b", "friends.#()", "friends.#(", "friends.#(age>=47).first",
    "friends.#(age!=47)#.first", 'friends.#(first=="D\\"x")', "friends.#.nets.#", "friends.#(nets.#>2).first",
    'children.#(>"B")#', "arr.#(>0)#", "arr.#.#", "vals.#(b)#.a", ".", "age.", "name..first", "#", "{", "{}",
    "[]", "{age", "@keys.0", "name.first.@tostr", "age.@fromstr", "friends|0.first", "friends|#",
    'friends.#(last="Murphy")#|0', "friends.#.first|@reverse|0", "{age,name.first}|age",
    "friends.#.nets|@flatten|#", "@this|age", "friends|@reverse|0|first", 'arr|@flatten:{"deep":true}|5',
    "inner|@fromstr|id",
)  # fmt: skip
_TOKENS: Final = (
    "name", "first", "friends", "age", "children", "arr", "0", "1", "2", "#", "*", "?", ".", ".", ".", "|",
    "@reverse", "@flatten", "@keys", "@values", "@this", "@join", "@tostr", "@fromstr", "@group",
    "@dig:first", "{", "}", "[", "]", "(", ")", "#(", "#(age>45)", '#(last=="Murphy")#', "==", '"Murphy"',
    '"', "\\", "!", "!5", '!"x"', ",", ":", "~true", "%", '"D*"', "vals", "b", "a", "z", "n", "esc", "inner",
    "g", "o", "-", "é", "@ugly", "@valid", ':{"deep":true}', "nets", r"fav\.movie", "@dig", ".#.", "#.", "..",
    '=="fb"', ">", "<", ">=", "!=",
)  # fmt: skip
_LEAVES: Final = (
    1,
    -5,
    1.5,
    1e21,
    0,
    True,
    False,
    None,
    "x",
    "a.b",
    '"q"',
    "é",
    "",
    "fb",
    12345678901234567890,
    1e-7,
)
_NAMES: Final = ("name", "first", "a", "b", "c.d", "*", "age", "x y", "0", "1", "last", "nets")
_DEEPEST: Final = 3


def path(chance: Random) -> str:
    """A path, made of pieces, of two known ones, or of one that was damaged."""
    kind = chance.randrange(3)
    if kind == 0:
        return "".join(chance.choices(_TOKENS, k=chance.randint(1, 9)))
    if kind == 1:
        return chance.choice(PATHS) + chance.choice(("", ".", "|")) + chance.choice(PATHS)
    damaged = list(chance.choice(PATHS))
    for _ in range(chance.randint(0, 3)):
        at = chance.randrange(len(damaged) or 1)
        damaged[at : at + chance.randint(0, 2)] = chance.choice(_TOKENS)
    return "".join(damaged)


def document(chance: Random) -> str:
    """JSON, or what was JSON before a character went missing."""
    made = chance.choice((DOCUMENT, DOCUMENT, chance.choice(_OTHERS), _written(chance), _written(chance)))
    if made and not chance.randrange(7):
        at = chance.randrange(len(made))
        made = (
            made[:at] + chance.choice(("", '"', "}", "]", "\\", " ", "x")) + made[at + chance.randint(0, 2) :]
        )
    return made


def _written(chance: Random) -> str:
    value = _value(chance, 0)
    return json.dumps(value, ensure_ascii=bool(chance.getrandbits(1)), indent=chance.choice((None, 1)))


def _value(chance: Random, depth: int) -> object:
    kind = chance.randrange(4)
    if depth > _DEEPEST or kind < 2:
        return chance.choice(_LEAVES)
    size = chance.randrange(5)
    if kind == 2:
        return [_value(chance, depth + 1) for _ in range(size)]
    return {chance.choice(_NAMES): _value(chance, depth + 1) for _ in range(size)}
