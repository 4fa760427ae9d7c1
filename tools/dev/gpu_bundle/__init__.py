"""The GPU bundle: every kind of kernel with inputs and answers, for a machine with nothing but a driver."""
