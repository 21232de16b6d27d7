"""What a browser shows. Routes that are added to `router` stand beside the API, outside its document."""

from fastapi import APIRouter

router = APIRouter(include_in_schema=False)
