"""Commands for evidence of several sites: `site` makes the file of one, `pool` the report of all."""

from trustreport.commands.pooling.pool import pool
from trustreport.commands.pooling.site import site

__all__ = ["pool", "site"]
