import type { FanOut, Presence, RateLimits } from '../cluster-ports.ts'
import { LocalLimits } from '../local-limits.ts'
import { openConnection } from './connection.ts'
import { DirectoryClient } from './directory-client.ts'
import { RedisFanOut } from './fan-out.ts'
import { defineLimits, RedisLimits } from './limits.ts'
import { RedisPresence } from './presence.ts'
import type { PulseOptions } from './pulse.ts'

/** What Redis does for an installation of several nodes; each works on, in its own way, while Redis is away. */
export interface RedisServices {
  readonly presence: Presence
  readonly fanOut: FanOut
  readonly limits: RateLimits
  /** Whether all connections answer. */
  ping(): Promise<boolean>
  close(): Promise<void>
}

/** The lines that are logged: data first, as pino takes them. */
export interface RedisLog {
  info(data: object, message: string): void
  warn(data: object, message: string): void
}

/** A start waits this long for Redis, and goes on without. */
const startPatienceMs = 1_000
/** No request waits longer than this for a server that hangs. */
const defaultPatienceMs = 300

/**
 * Connects to Redis. Throws nothing when it is away, at the start or later: it is connected to again and again.
 *
 * @param options.url `redis://…` or `rediss://…`.
 * @param options.installation name of the database: installations that share a Redis do not see each other.
 * @param options.now ms since the epoch; for how long the directory is not to be trusted.
 * @param options.patienceMs how long an answer is waited for; then Redis counts as away until it answers again.
 */
export const openRedis = async ({
  url,
  installation,
  log,
  now = Date.now,
  patienceMs = defaultPatienceMs,
}: {
  readonly url: string
  readonly installation: string
  readonly log: RedisLog
  readonly now?: () => number
  readonly patienceMs?: number
}): Promise<RedisServices> => {
  const prefix = `troupe:${installation}:`
  const pulseOptions = (part: string, up: () => void = () => {}): PulseOptions => ({
    patienceMs,
    up: () => {
      log.info({ part }, 'redis answers')
      up()
    },
    down: (reason) => log.warn({ part, reason }, 'redis is away'),
  })
  const commands = openConnection(
    url,
    pulseOptions('commands', () => fanOut.checkUp()),
    {
      beat: (client) => client.ping(),
      more: {
        enableAutoPipelining: true,
      },
    },
  )
  defineLimits(commands.client)
  const fanOut = new RedisFanOut(commands, { url, prefix, pulsing: pulseOptions('news') })
  const directory = new DirectoryClient(
    url,
    prefix,
    pulseOptions('directory', () => presence.returned()),
  )
  const presence = new RedisPresence(directory, prefix, now)
  const ping = async (): Promise<boolean> => fanOut.up && directory.pulse.up
  if (!(await within(startPatienceMs, ping)))
    log.warn({ reason: commands.pulse.up ? directory.reason : commands.reason() }, 'redis is away')
  return {
    presence,
    fanOut,
    limits: new RedisLimits(commands, prefix, new LocalLimits({ steady: () => performance.now() })),
    ping,
    close: async () => {
      await fanOut.close()
      directory.close()
      // what was published in this turn is on its way
      await commands.pulse.run(() => commands.client.ping())
      commands.close()
    },
  }
}

const within = async (ms: number, holds: () => Promise<boolean>): Promise<boolean> => {
  const deadline = performance.now() + ms
  while (!(await holds()) && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
  return holds()
}
