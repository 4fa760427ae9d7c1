"""The project's one command, ./dev: sets up what a wish needs, then does it."""
