"""Documents with open places: filled in here, or written as the templates of a Helm chart.

An outline is written once, as dicts and lists of nodes, and says what depends on which value. `fill` gives
the document of some values, `helm` the template that gives the same document in Helm.
"""
