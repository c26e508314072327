"""Prints the statements by which adk-python's DatabaseSessionService makes its tables on Postgres."""

from google.adk.sessions.schemas.v1 import Base
from sqlalchemy import create_mock_engine
from sqlalchemy.dialects import postgresql


def show(statement, *args, **kwargs):
  print(str(statement.compile(dialect=postgresql.dialect())).strip() + ";")


Base.metadata.create_all(create_mock_engine("postgresql://", show), checkfirst=False)
print("INSERT INTO adk_internal_metadata (key, value) VALUES ('schema_version', '1');")
