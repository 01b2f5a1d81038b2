"""`syncret simulate`: the engine with all reconcilers, on a cluster in memory and on virtual time."""
