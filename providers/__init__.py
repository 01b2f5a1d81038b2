"""One sub-package for each secret manager. Siblings never import each other; what they share is in `kit`."""
