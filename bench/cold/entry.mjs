/** A process that imports one entry of the package, the argument, and ends. */
const entry = await import(process.argv[2]);
process.exit(Object.keys(entry).length > 0 ? 0 : 1);
