"""The reference of the API as a page: what the OpenAPI document says, put in order for people."""
