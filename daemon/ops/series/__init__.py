"""What a scrape has beside objects, queue and stores: one module for each part of the daemon."""
