#!/usr/bin/env node
import '../src/start/require-node.js'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/*
 * `troupe COMMAND`: runs the server or one of the operator's tools, as in the image. Each runs as a separate process,
 * to which signals are forwarded.
 */
const commands = {
  start: ['src/start.js', 'starts the server'],
  quickstart: ['scripts/quickstart.ts', 'runs one turn with an approval against a server of its own'],
  doctor: ['scripts/doctor.ts', 'checks the installation and prints remedies'],
  mcp: ['src/tool-server/stdio.ts', 'starts an MCP server over stdio that calls a Troupe server'],
  stuck: ['scripts/stuck.ts', 'lists stuck work of a running installation, and resolves it'],
  'rebuild-rows': ['scripts/rebuild-rows.ts', 'rebuilds the rows of lists and usage from the commits'],
  backup: ['scripts/backup.ts', 'backs up a running installation'],
  export: ['scripts/export.ts', 'exports one project to a file'],
  import: ['scripts/import.ts', 'imports a project from such a file into a store'],
  'rotate-master-key': ['scripts/keys/rotate-master-key.ts', 'puts a new master key into its file'],
  'reset-owner': ['scripts/reset-owner.ts', 'gives an owner a new password'],
  credits: ['scripts/credits.ts', 'shows and grants the credits of an organisation'],
}

const usage = [
  'usage: troupe COMMAND [OPTIONS]',
  '',
  ...Object.entries(commands).map(([name, [, does]]) => `  ${name.padEnd(18)} ${does}`),
]

const [name = '--help', ...args] = process.argv.slice(2)
const command = Object.hasOwn(commands, name) ? commands[name] : undefined
if (command === undefined) {
  const isHelp = name === '--help' || name === '-h' || name === 'help'
  const lines = isHelp ? usage : [`There is no command ${name}.`, ...usage]
  ;(isHelp ? process.stdout : process.stderr).write(`${lines.join('\n')}\n`)
  process.exit(isHelp ? 0 : 2)
}

const file = fileURLToPath(new URL(`../${command[0]}`, import.meta.url))
const options = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=8', '--no-parallel-scavenge']
// for the server, src/start.js does the same if there is no bundle
const kept = file.endsWith('.ts') ? ['--import', new URL('../src/start/kept-sources.js', import.meta.url).href] : []
const child = spawn(process.execPath, [...options, ...kept, file, ...args], {
  stdio: 'inherit',
  env: { MALLOC_ARENA_MAX: '2', ...process.env },
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
