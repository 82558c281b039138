"""What Alembic runs around a revision: the connection is given, and its transaction is the caller's."""

from alembic import context

from goldlabel.leaderboard.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
