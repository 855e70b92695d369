import type { Redis, Result } from 'ioredis'
import type { LimitState, RateLimit, RateLimits } from '../cluster-ports.ts'
import { partsOfWindow } from '../local-limits.ts'
import type { Connection } from './connection.ts'

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeUnits(
      key: string,
      limit: number,
      windowMs: number,
      partMs: number,
      units: number,
    ): Result<readonly [allowed: number, remaining: number, resetMs: number], Context>
  }
}

/**
 * A Lua script over a hash of units by the time (ms, server clock) when they become available again; the key expires
 * with the last of them. A script runs atomically: of a thousand concurrent attempts exactly as many succeed as there
 * are units.
 */
const takeUnits = `
local limit, window, part, units = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local parts = redis.call('HGETALL', KEYS[1])
local taken, first, last = 0, nil, 0
for i = 1, #parts, 2 do
  local back = tonumber(parts[i])
  if back <= now then
    redis.call('HDEL', KEYS[1], parts[i])
  else
    taken = taken + tonumber(parts[i + 1])
    first = math.min(first or back, back)
    last = math.max(last, back)
  end
end
local allowed = taken + units <= limit
if allowed and units > 0 then
  local back = (math.floor(now / part) + 1) * part + window
  redis.call('HINCRBY', KEYS[1], string.format('%.0f', back), units)
  redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.max(last, back)))
  taken = taken + units
  first = math.min(first or back, back)
end
return { allowed and 1 or 0, math.max(0, limit - taken), first and first - now or 0 }`

/** Adds the command to a connection. */
export const defineLimits = (client: Redis): void =>
  client.defineCommand('takeUnits', { numberOfKeys: 1, lua: takeUnits })

/** Limits that all nodes share; while Redis is unavailable, limits of this node alone. */
export class RedisLimits implements RateLimits {
  readonly #connection: Connection
  readonly #prefix: string
  readonly #own: RateLimits

  constructor(connection: Connection, prefix: string, own: RateLimits) {
    this.#connection = connection
    this.#prefix = `${prefix}limit:`
    this.#own = own
  }

  async take(key: string, limit: RateLimit, units = 1): Promise<LimitState> {
    const { client, pulse } = this.#connection
    const partMs = Math.max(1, Math.floor(limit.windowMs / partsOfWindow))
    const answer = await pulse.run(() =>
      client.takeUnits(this.#prefix + key, limit.limit, limit.windowMs, partMs, units),
    )
    if (answer === undefined) return this.#own.take(key, limit, units)
    const [allowed, remaining, resetMs] = answer
    return { allowed: allowed === 1, remaining, resetMs }
  }

  async reset(key: string): Promise<void> {
    const { client, pulse } = this.#connection
    await Promise.all([this.#own.reset(key), pulse.run(() => client.del(this.#prefix + key))])
  }
}
