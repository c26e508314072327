"""The contract as a class of tests, as any package writes it."""

from contract_services import in_memory

from statepad.testing import conformance

TestInMemory = conformance(in_memory)
