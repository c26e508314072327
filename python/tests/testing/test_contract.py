"""The contract as a class of tests, as any package writes it."""

from importlib.metadata import version

from contract_services import in_memory

from statepad.testing import conformance

OLDEST = {"appending: an append to a deleted session is refused": "it is dropped with a line in the log"}

TestInMemory = conformance(in_memory, known=OLDEST if version("google-adk").startswith("2.0.") else {})
