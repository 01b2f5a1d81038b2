"""The functions of templates beyond Go's predefined ones, declared as `contract` describes."""
