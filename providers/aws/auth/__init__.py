"""How a store gets its credentials for AWS: one module for each way."""
