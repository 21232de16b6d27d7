"""Site files carried by engines that hospitals may run already: a module for each, and `node` for all."""
