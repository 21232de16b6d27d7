"""A study described in five short steps; each saves a draft that its author alone sees."""
