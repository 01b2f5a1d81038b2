"""What a Delivery may do on this host, and how it is done with more rights, or by a helper that has them."""
