"""What a browser shows: pages rendered here, which ask the functions of the API and nothing else.

They work without JavaScript; with it, uploads show how far they are, and what is awaited comes by itself.
"""

from trustreport.service.pages.all_pages import router
from trustreport.service.pages.login import OPEN
from trustreport.service.pages.refusals import is_wanted, refused
from trustreport.service.pages.shared import PREFIX as SHARED
from trustreport.service.pages.uploads import is_upload

__all__ = ["OPEN", "SHARED", "is_upload", "is_wanted", "refused", "router"]
