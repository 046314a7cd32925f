"""Tables from files: CSV, compressed CSV and Parquet."""
