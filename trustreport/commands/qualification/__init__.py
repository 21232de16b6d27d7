"""Qualification of the installed tool: what is installed, and whether it returns the values of other tools.

`installation` compares packages, files and fonts with what was released; `operation` computes reference
values anew; `record` writes what was found, signed where a key is given.
"""
