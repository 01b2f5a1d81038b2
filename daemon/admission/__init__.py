"""The admission webhook of a cluster: what it answers, and where its certificate comes from."""
