class Event: ...

class ResponseReceived(Event):
    stream_id: int
    headers: list[tuple[str, str]]

class TrailersReceived(Event):
    stream_id: int
    headers: list[tuple[str, str]]

class DataReceived(Event):
    stream_id: int
    data: bytes
    flow_controlled_length: int

class StreamEnded(Event):
    stream_id: int

class StreamReset(Event):
    stream_id: int
    error_code: int

class ConnectionTerminated(Event):
    error_code: int
