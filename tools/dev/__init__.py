"""The project's one command, ./dev: sets up what a command needs, then does it."""
