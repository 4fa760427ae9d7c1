"""SQL in: a text and the schemas of its tables to a bound plan, by DuckDB's parser and binder."""
