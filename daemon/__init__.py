"""When and where: the engine, its homes, and the command line. Never names a provider."""
