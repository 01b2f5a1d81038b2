"""Paths into JSON as in github.com/tidwall/gjson: on text, without parsing all of it.

The syntax is in gjson's SYNTAX.md. Undefined behaviour, above all on broken documents, is that of gjson: a
value that the operator finds is found here too. Only `@pretty` formats broken documents differently.

    scan        values at an offset of a text
    paths       parses paths: components, queries, pipes, multipaths
    match       queries and wildcards
    walk        the search itself
    modifiers   @reverse, @flatten, @pretty, @ugly and the others
"""
