"""Sessions: the clients of stores, and how calls to them are shared, paced and retried."""
