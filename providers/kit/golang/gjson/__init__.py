"""Paths into JSON as github.com/tidwall/gjson reads them, on text and without parsing all of it.

The syntax stands in SYNTAX.md there. Where gjson promises nothing, on broken documents above all, it is
followed as it is: a value that was found before a move to syncret is found after it. Only `@pretty` lays out
broken documents in its own way.

    scan        values at a place of a text, and what each is as text
    paths       a path taken apart: components, queries, pipes, multipaths
    match       queries and wildcards
    walk        the search itself
    modifiers   @reverse, @flatten and the others
    pretty      the two layouts, @pretty and @ugly
"""
