"""One sub-package for each secret manager. Siblings never import each other; shared code is in `kit`."""
