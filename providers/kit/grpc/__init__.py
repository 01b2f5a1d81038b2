"""A secret manager with a gRPC API: unary calls over HTTP/2, with the identities of `kit.rest`.

methods     the table of the vendor's methods         messages  protocol buffers, by the numbers of fields
api         calls of one service, as one identity     statuses  what the status of a call means
channel     the connections to one server             http2     one of them, and the call that it carries
connecting  sockets and TLS

`h2` frames and compresses; addresses, proxies, trust and limits are those of `kit.http`. What is imported
when a spec is validated (`messages`, `methods`) loads neither TLS nor h2.
"""
