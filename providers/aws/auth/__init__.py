"""Who a store is to AWS: one module a way to get credentials."""
