"""What an installation in a cluster consists of: objects that an administrator applies, made from values."""
