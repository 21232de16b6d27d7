"""Signatures that others verify: time stamps with their chain, in-toto statements in DSSE, signed PDF.

Each module takes and returns bytes; `trustreport.report` knows which files of a report they are of.
"""
