"""Polars' programs run by headrace: `collect(post_opt_callback=hr.polars_engine())`."""
