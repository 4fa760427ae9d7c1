"""A session as a server of Arrow Flight SQL: for ADBC, JDBC, ODBC and what speaks through them."""
