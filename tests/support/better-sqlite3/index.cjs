// The `better-sqlite3` of tests, programs of the pages, and MikroORM.

const { choice } = require('./choice.cjs');

const Database = require(choice);

try {
  // It loads its binary with the first database.
  new Database(':memory:').close();
} catch (error) {
  const message = `${choice} has no binary for Node ${process.versions.node}: run "node scripts/setup.mjs sqlite"`;
  throw new Error(message, { cause: error });
}

module.exports = Database;
