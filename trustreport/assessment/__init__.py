"""What is found in one study: its dimensions, checks and verdicts.

Begin with `assess`, which asks all of them. Imports study and figures, and what these import.
"""
