"""Providers of models: the only place that opens a client. Each takes a `Request` and returns a `Reply`."""
