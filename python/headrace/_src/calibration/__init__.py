"""What this machine takes for each kind of work: small programs, run and fitted (`headrace calibrate`)."""
