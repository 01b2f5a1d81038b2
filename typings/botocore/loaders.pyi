from typing import Any

class Loader:
    def load_data(self, name: str) -> Any: ...
