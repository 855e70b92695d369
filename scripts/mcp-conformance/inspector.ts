import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const inspector = '@modelcontextprotocol/inspector@2.12.0'
const stdio = resolve(import.meta.dirname, '../../bin/troupe.js')

/** A server to inspect, and a folder in which to install the inspector. */
export interface InspectedServer {
  readonly folder: string
  readonly url: string
  readonly key: string
}

/**
 * Result of one command of the inspector. `failure` is null when the command succeeded without a warning about tools.
 */
export interface Inspected {
  readonly name: string
  readonly failure: string | null
}

/**
 * Runs the command line of the official inspector against the tool server: lists, whose schemas must be portable, and
 * calls, over HTTP and stdio, in both eras of the protocol. The inspector is installed for this purpose, and is not a
 * dependency.
 */
export const inspect = ({ folder, url, key }: InspectedServer): readonly Inspected[] => {
  const home = join(folder, 'inspector')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{ "private": true }')
  execFileSync('npm', [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-save',
    '--prefix',
    home,
    inspector,
  ])
  const places: Readonly<Record<string, readonly string[]>> = {
    HTTP: [`${url}/mcp?mode=write`, '--transport', 'http', '--header', `Authorization: Bearer ${key}`],
    stdio: [
      process.execPath,
      stdio,
      'mcp',
      '--mode',
      'write',
      '-e',
      `SERVICE_API_KEY=${key}`,
      '-e',
      `SERVICE_BASE_URL=${url}`,
    ],
  }
  const commands = [
    'tools/list --strict',
    'tools/call --tool-name list_agents',
    'tools/call --tool-name create_session',
  ]
  return Object.entries(places).flatMap(([place, target]) =>
    ['legacy', 'modern'].flatMap((era) =>
      commands.map((command) => ({
        name: `${command} over ${place}, ${era}`,
        failure: failureOf(home, [
          ...target,
          '--protocol-era',
          era,
          '--format',
          'json',
          '--method',
          ...command.split(' '),
        ]),
      })),
    ),
  )
}

const failureOf = (home: string, args: readonly string[]): string | null => {
  const command = join(home, 'node_modules/.bin/mcp-inspector')
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, '--cli', ...args], {
    ...{ env: { PATH: process.env.PATH, HOME: home }, encoding: 'utf8', timeout: 60_000, maxBuffer: 64 * 1024 * 1024 },
  })
  // the warning is about schemas that some clients cannot map
  return status === 0 && !stderr.includes('Warning: tool') ? null : `${stdout.slice(0, 2000)}\n${stderr}`
}
