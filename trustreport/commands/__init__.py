"""The command line, a module for each command.

Begin with `cli`. A command imports what it needs when it runs, so that starting costs nothing.
"""
