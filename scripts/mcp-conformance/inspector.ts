import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const inspector = '@modelcontextprotocol/inspector@2.12.0'
const stdio = resolve(import.meta.dirname, '../../bin/troupe.js')

/** A server to look at, and a folder for what that needs. */
export interface InspectedServer {
  readonly folder: string
  readonly url: string
  readonly key: string
}

/** What the inspector said of one command; null when it was right. */
export interface Inspected {
  readonly name: string
  readonly failure: string | null
}

/**
 * Drives the tool server by the command line of the official inspector: its lists, which are held to be portable, and calls,
 * over HTTP and stdio, by both eras of the protocol. The inspector is installed for that, and is no dependency.
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
  // of schemas that some client cannot map
  return status === 0 && !stderr.includes('Warning: tool') ? null : `${stdout.slice(0, 2000)}\n${stderr}`
}
