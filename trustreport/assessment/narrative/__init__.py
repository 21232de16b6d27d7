"""How results become sentences and tables: what every dimension writes in the same way."""
