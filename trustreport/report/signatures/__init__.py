"""The hashes and signatures of a report: statements, envelopes, signed copies and time stamps."""
