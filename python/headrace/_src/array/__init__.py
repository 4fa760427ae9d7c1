"""Arrays: tracing of array-API-style functions to linalg on tensors."""
