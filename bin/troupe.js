#!/usr/bin/env node
import '../src/start/require-node.js'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { commands } from '../src/start/commands.js'

/*
 * `troupe COMMAND`: runs the server or one of the operator's tools. Each runs as a separate process, to which signals are
 * forwarded.
 */
const usage = [
  'usage: troupe COMMAND [OPTIONS]',
  '',
  ...Object.entries(commands).map(([name, { does }]) => `  ${name.padEnd(18)} ${does}`),
  '',
  'troupe COMMAND --help shows the options of a command.',
]

const [name = '--help', ...args] = process.argv.slice(2)
const command = Object.hasOwn(commands, name) ? commands[name] : undefined
if (command === undefined) {
  const isHelp = name === '--help' || name === '-h' || name === 'help'
  const lines = isHelp ? usage : [`There is no command ${name}.`, ...usage]
  ;(isHelp ? process.stdout : process.stderr).write(`${lines.join('\n')}\n`)
  process.exit(isHelp ? 0 : 2)
}

const source = fileURLToPath(new URL(`../${command.file}`, import.meta.url))
// the package has no sources (scripts/package)
const file = existsSync(source) ? source : source.replace(/\.ts$/, '.js')
const options = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=8', '--no-parallel-scavenge']
// for the server, src/start.js does the same if there is no bundle
const kept = file.endsWith('.ts') ? ['--import', new URL('../src/start/kept-sources.js', import.meta.url).href] : []
const child = spawn(process.execPath, [...options, ...kept, file, ...args], {
  stdio: 'inherit',
  env: { MALLOC_ARENA_MAX: '2', ...process.env, TROUPE_COMMAND: name },
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
