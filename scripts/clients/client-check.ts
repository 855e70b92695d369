import { spawnSync } from 'node:child_process'
import { onPath } from '../services/command.ts'

/** Environment in which a client is made and tried. */
export interface ClientWorld {
  /** Empty folder for this client alone. */
  readonly folder: string
  /** Path of the OpenAPI document. */
  readonly document: string
  /** Base URL of the server. */
  readonly url: string
  /** Secret key of a project. */
  readonly key: string
}

/** Makes a client, compiles it and runs a turn with it. @throws {Error} with what the failing command printed. */
export type ClientCheck = (world: ClientWorld) => void

/** Runs a command in the client's folder. @returns its output. @throws {Error} with the output when it fails. */
export const run = (
  { folder, url, key }: ClientWorld,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string => {
  const own = { ...process.env, TROUPE_URL: url, TROUPE_KEY: key, ...env }
  const done = spawnSync(command, args, { cwd: folder, env: own, encoding: 'utf8', timeout: 600_000 })
  const printed = `${done.stdout}${done.stderr}`
  const line = [command, ...args].join(' ').slice(0, 500)
  if (done.status !== 0) throw new Error(`${line}\n${done.error?.message ?? ''}${printed}`)
  return printed
}

/** Why a check was not made: a result of its own, since it is no pass. */
export class Skipped extends Error {}

/** Skips a check when a tool that it needs is missing. @throws {Skipped} */
export const needing =
  (tools: readonly string[], check: ClientCheck): ClientCheck =>
  (world) => {
    const missing = tools.filter((name) => onPath(name) === null)
    if (missing.length > 0) throw new Skipped(`it needs ${missing.join(', ')}`)
    check(world)
  }
