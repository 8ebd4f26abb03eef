"""Who is asked: the only place that opens a client of a model. Each takes a `Request` and gives a `Reply`."""
