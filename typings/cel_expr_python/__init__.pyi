"""The part of cel-expr-python that is used; the distribution does not say that it has types."""
