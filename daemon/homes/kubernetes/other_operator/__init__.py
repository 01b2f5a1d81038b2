"""Whether another operator works on the same objects, and what keeps both from it."""
