"""Evidence of several sites: the file that each hands over, and the study that they make together."""
