"""Steps of the schema, run by `trustreport.service.storage.migrate`."""
