"""The cluster home: objects of an API server, which answers writes at once and announces them later."""
