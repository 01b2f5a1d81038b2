"""The generators that do not belong to the provider of a store."""
