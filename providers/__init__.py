"""How to reach a secret manager: one sub-package each, siblings that never import each other."""
