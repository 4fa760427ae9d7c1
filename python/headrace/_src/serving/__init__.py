"""A session as a server of Arrow Flight SQL: for ADBC, JDBC, ODBC and what speaks through them."""

#: Seconds in which clients may read on when a server ends.
GRACE = 5.0
#: How many queries run at once.
QUERIES = 8
