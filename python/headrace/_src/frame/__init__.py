"""Frames: lazy tables in Polars' vocabulary, which become one SQL text for the binder."""
