"""Benchmarks side by side with other engines: `./dev bench tpch`."""
