"""SQL queries from Python: tables, compilation through the cache of plans, execution."""
