"""Sessions: tables and views by name, and queries over them that run when they are asked for rows."""
