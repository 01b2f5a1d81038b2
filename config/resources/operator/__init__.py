"""The two kinds of the operator, of which a cluster has one object each."""
