// The version of better-sqlite3 that fits the Node that runs: 13 dies in Node 20, and 12 in Node 24.19 and later.

/** The package, by the name that it has here. Only 13 ships binaries: one for each platform, for every Node. */
exports.choice = Number(process.versions.node.split('.')[0]) < 22 ? 'better-sqlite3-12' : 'better-sqlite3-13';
