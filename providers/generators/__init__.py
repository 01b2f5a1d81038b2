"""The generators that belong to no provider."""
