"""What goes in: the data read, the manifest declared, and what was locked beforehand."""
