import { type RedisAccess, type RedisState, redisAddressOf } from '../addresses/redis-address.ts'
import { type AnswerStore, maxAnswerBytes } from '../answer-store.ts'
import type { FanOut, Presence, RateLimits, SharedTurns } from '../cluster-ports.ts'
import { LocalLimits } from '../local-limits.ts'
import { LocalTurns } from '../local-turns.ts'
import { defineAnswers, RedisAnswers } from './answers.ts'
import { ClusterConnection } from './cluster-connection.ts'
import { type Connection, ServerConnection } from './connection.ts'
import type { PulseOptions } from './connection-monitor.ts'
import { RedisFanOut } from './fan-out.ts'
import { defineLimits, RedisLimits } from './limits.ts'
import { RedisPresence } from './presence.ts'
import { defineTurns, RedisTurns } from './turns.ts'

/**
 * Services that Redis provides to an installation with several nodes; each falls back to its own substitute while Redis
 * is unavailable.
 */
export interface RedisServices {
  readonly presence: Presence
  readonly fanOut: FanOut
  readonly limits: RateLimits
  readonly turns: SharedTurns
  readonly answers: AnswerStore
  /** Whether all connections answer. */
  ping(): Promise<boolean>
  /** What kind of Redis it is, and whether all connections answer: no address. */
  state(): RedisState
  close(): Promise<void>
}

/** A logger with the data first, as in pino. */
export interface RedisLog {
  info(data: object, message: string): void
  warn(data: object, message: string): void
}

/** Time in ms that a start waits for Redis before it continues without it. */
const startPatienceMs = 1_000
/** Maximum time in ms that a request waits for a server that hangs. */
const defaultPatienceMs = 300

/**
 * Connects to Redis. Does not throw when Redis is unavailable, at the start or later; it reconnects forever.
 *
 * @param options.url of a server, of sentinels or of a cluster (`redisAddressOf`).
 * @param options.access certificates, and the login of sentinels.
 * @param options.installation name of the database: installations that share a Redis do not see each other.
 * @param options.now ms since the epoch; determines how long the directory is not trusted after an outage.
 * @param options.answerBytes maximum bytes of stored answers of models.
 * @param options.patienceMs timeout of an answer in ms, after which Redis counts as unavailable until it answers again.
 */
export const openRedis = async ({
  url,
  access = {},
  installation,
  log,
  now = Date.now,
  patienceMs = defaultPatienceMs,
  answerBytes = maxAnswerBytes,
}: {
  readonly url: string
  readonly access?: RedisAccess
  readonly installation: string
  readonly log: RedisLog
  readonly now?: () => number
  readonly patienceMs?: number
  readonly answerBytes?: number
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
  const commands = connectRedis(
    { url, access },
    pulseOptions('commands', () => {
      presence.returned()
      fanOut.checkUp()
    }),
  )
  defineLimits(commands.client)
  defineTurns(commands.client)
  defineAnswers(commands.client)
  const isCluster = commands instanceof ClusterConnection
  const fanOut = new RedisFanOut(commands, { prefix, isCluster, pulsing: pulseOptions('news') })
  const presence = new RedisPresence(commands, prefix, now)
  const ping = async (): Promise<boolean> => commands.up && fanOut.up
  if (!(await within(startPatienceMs, ping))) log.warn({ reason: commands.reason() }, 'redis is away')
  return {
    presence,
    fanOut,
    limits: new RedisLimits(commands, prefix, new LocalLimits(steadyClock)),
    turns: new RedisTurns(commands, prefix, new LocalTurns(steadyClock)),
    // the scripts of answers use several keys, which the braces keep at one master of a cluster
    answers: new RedisAnswers(commands, `${prefix}${isCluster ? '{answers}' : 'answers'}:`, answerBytes),
    ping,
    state: () => ({ kind: commands.kind, answers: commands.up && fanOut.up }),
    close: async () => {
      await fanOut.close()
      // flushes what was published in this turn
      await commands.run('', () => commands.client.ping())
      commands.close()
    },
  }
}

/** Connects for commands. @throws {Error} for a URL that `readConfig` refuses. */
export const connectRedis = (
  { url, access = {} }: { readonly url: string; readonly access?: RedisAccess },
  pulsing: PulseOptions,
): Connection => {
  const address = redisAddressOf(url)
  if (typeof address === 'string') throw new Error(`the URL of Redis must be ${address}`)
  const target = { address, ...access }
  return address.kind === 'cluster' ? new ClusterConnection(target, pulsing) : new ServerConnection(target, pulsing)
}

const steadyClock = { steady: () => performance.now() }

const within = async (ms: number, holds: () => Promise<boolean>): Promise<boolean> => {
  const deadline = performance.now() + ms
  while (!(await holds()) && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
  return holds()
}
