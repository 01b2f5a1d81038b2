"""The operator's objects as an installation: what they choose, what is wrong with it, what it is made of."""
