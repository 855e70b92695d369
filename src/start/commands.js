/*
 * The commands of `troupe`: each is a file that runs as a process of its own. `troupe --help`, docs/commands.md, the image and
 * the package are made from this table, and a test holds the scripts of package.json against it.
 */

/**
 * @typedef {object} Command
 * @property {string} file from the root; in the package, `.js` takes the place of `.ts`
 * @property {string} does in one sentence, without a subject and a full stop
 */

/** @type {Readonly<Record<string, Command>>} */
export const commands = {
  start: { file: 'src/start.js', does: 'starts the server' },
  quickstart: {
    file: 'scripts/quickstart.ts',
    does: 'starts a server with a simulated model and runs one turn that waits for an approval',
  },
  cluster: { file: 'scripts/cluster.ts', does: 'starts several servers of one installation on this machine' },
  doctor: {
    file: 'scripts/doctor.ts',
    does: 'checks the installation that the environment describes, and prints remedies',
  },
  prepare: {
    file: 'scripts/store/prepare.ts',
    does: 'creates the collections and indexes of the store, which a start does too, and shards those of a MongoDB cluster',
  },
  mcp: { file: 'src/tool-server/stdio.ts', does: 'starts an MCP server over stdio that calls a Troupe server' },
  stuck: { file: 'scripts/stuck.ts', does: 'lists stuck work of a running installation, and resolves it' },
  'rebuild-rows': {
    file: 'scripts/rebuild-rows.ts',
    does: 'rebuilds the rows of lists and usage from the commits, and prints the differences',
  },
  backup: { file: 'scripts/backup.ts', does: 'backs up a running installation on SQLite' },
  export: { file: 'scripts/export.ts', does: 'exports one project to a file' },
  import: { file: 'scripts/import.ts', does: 'imports a project from such a file into a store' },
  credits: { file: 'scripts/credits.ts', does: 'shows and grants the credits of an organisation' },
  'rotate-master-key': { file: 'scripts/keys/rotate-master-key.ts', does: 'puts a new master key into its file' },
  'reset-owner': { file: 'scripts/reset-owner.ts', does: 'sets a new password for an owner, and prints it once' },
  'simulated-provider': {
    file: 'src/gateway/simulated/main.ts',
    does: 'starts the simulated model as a separate server',
  },
}
