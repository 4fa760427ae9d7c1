"""`./dev logictest`: scripts of SQL (sqllogictest) that others wrote, on headrace beside DuckDB."""
