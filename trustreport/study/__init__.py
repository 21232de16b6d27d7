"""What goes in: the data read, the manifest, what was locked before.

Begin with `study` and `plan`; `ingest` makes both of files. Imports vocabulary and measures.
"""
