"""Parts of the tests: servers, and a proxy that cuts connections."""
