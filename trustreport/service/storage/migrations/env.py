"""Run by Alembic: takes part in the transaction that `migrate` opened."""

from alembic import context

from trustreport.service.storage.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    transactional_ddl=False,  # the transaction is the caller's
)
context.run_migrations()
