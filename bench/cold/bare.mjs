/** Node alone. */
process.exit(0);
