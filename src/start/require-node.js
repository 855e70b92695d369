import * as nodeModule from 'node:module'

/*
 * Ends the process with one sentence on a Node that is too old. A command imports this file first. Imports that such a
 * Node cannot link must follow dynamically, since all static ones are linked before this file is run.
 */
if (nodeModule.registerHooks === undefined || nodeModule.stripTypeScriptTypes === undefined) {
  process.stderr.write(
    `Troupe needs Node 22.18 or newer, this is ${process.version}. Use \`npm start\` or another npm script: \`npm ci\` brings a Node for most machines.\n`,
  )
  process.exit(1)
}
