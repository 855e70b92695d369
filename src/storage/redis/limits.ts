import type { Result } from 'ioredis'
import type {
  HeldUnits,
  HoldState,
  LimitState,
  RateLimit,
  RateLimits,
  SettledUnits,
  WantedUnits,
} from '../cluster-ports.ts'
import { partsOfWindow } from '../local-limits.ts'
import type { Connection, RedisClient } from './connection.ts'

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeUnits(
      key: string,
      limit: number,
      windowMs: number,
      partMs: number,
      units: number,
    ): Result<readonly [allowed: number, remaining: number, resetMs: number], Context>
    holdUnits(
      key: string,
      limit: number,
      windowMs: number,
      partMs: number,
      max: number,
      min: number,
    ): Result<readonly [held: number, remaining: number, resetMs: number, back: number], Context>
    settleUnits(
      key: string,
      windowMs: number,
      partMs: number,
      held: number,
      heldBack: number,
      units: number,
    ): Result<number, Context>
  }
}

/**
 * Beginning of each script: a hash of units by the time (ms, server clock) when they become available again; the key
 * expires with the last of them. A script runs atomically: of a thousand concurrent attempts exactly as many succeed as
 * there are units.
 */
const window = `
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
local function add(units, window, part)
  local back = (math.floor(now / part) + 1) * part + window
  if units > 0 then
    redis.call('HINCRBY', KEYS[1], string.format('%.0f', back), string.format('%.0f', units))
    redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.max(last, back)))
    first = math.min(first or back, back)
  end
  return back
end`

const takeUnits = `${window}
local limit, units = tonumber(ARGV[1]), tonumber(ARGV[4])
local allowed = taken + units <= limit
if allowed then
  add(units, tonumber(ARGV[2]), tonumber(ARGV[3]))
  taken = taken + units
end
return { allowed and 1 or 0, math.max(0, limit - taken), first and first - now or 0 }`

/** \`unitsOf\` of src/storage/local-limits.ts, in Lua. */
const holdUnits = `${window}
local left, most, least = tonumber(ARGV[1]) - taken, tonumber(ARGV[4]), tonumber(ARGV[5])
if left <= 0 then
  return { -1, 0, first and first - now or 0, 0 }
end
local units = most
if least >= 0 and least <= left then
  units = math.min(most, math.max(least, math.floor(left / 8)))
end
local back = add(units, tonumber(ARGV[2]), tonumber(ARGV[3]))
return { units, math.max(0, left - units), first and first - now or 0, back }`

const settleUnits = `${window}
local held, heldBack = tonumber(ARGV[3]), string.format('%.0f', tonumber(ARGV[4]))
if redis.call('HEXISTS', KEYS[1], heldBack) == 1 and held > 0 then
  if redis.call('HINCRBY', KEYS[1], heldBack, string.format('%.0f', -held)) <= 0 then
    redis.call('HDEL', KEYS[1], heldBack)
  end
end
return add(tonumber(ARGV[5]), tonumber(ARGV[1]), tonumber(ARGV[2]))`

/** Adds the commands to a connection. */
export const defineLimits = (client: RedisClient): void => {
  client.defineCommand('takeUnits', { numberOfKeys: 1, lua: takeUnits })
  client.defineCommand('holdUnits', { numberOfKeys: 1, lua: holdUnits })
  client.defineCommand('settleUnits', { numberOfKeys: 1, lua: settleUnits })
}

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
    const { client } = this.#connection
    const { windowMs } = limit
    const answer = await this.#connection.run(this.#prefix + key, () =>
      client.takeUnits(this.#prefix + key, limit.limit, windowMs, partOf(windowMs), units),
    )
    if (answer === undefined) return this.#own.take(key, limit, units)
    const [allowed, remaining, resetMs] = answer
    return { allowed: allowed === 1, remaining, resetMs }
  }

  async hold(key: string, limit: RateLimit, wanted: WantedUnits): Promise<HoldState> {
    const { client } = this.#connection
    const { max, min = -1 } = wanted
    const { windowMs } = limit
    const answer = await this.#connection.run(this.#prefix + key, () =>
      client.holdUnits(this.#prefix + key, limit.limit, windowMs, partOf(windowMs), max, min),
    )
    if (answer === undefined) return this.#own.hold(key, limit, wanted)
    const [units, remaining, resetMs, back] = answer
    return { allowed: units >= 0, remaining, resetMs, held: units < 0 ? null : { units, back } }
  }

  /** A hold of the own limits is unknown to Redis, and the reverse: there it becomes available by itself. */
  async settle(key: string, limit: RateLimit, settled: SettledUnits): Promise<HeldUnits> {
    const { client } = this.#connection
    const { windowMs } = limit
    const { held, units } = settled
    const back = await this.#connection.run(this.#prefix + key, () =>
      client.settleUnits(this.#prefix + key, windowMs, partOf(windowMs), held.units, held.back, units),
    )
    return back === undefined ? this.#own.settle(key, limit, settled) : { units, back }
  }

  async reset(key: string): Promise<void> {
    const { client } = this.#connection
    await Promise.all([
      this.#own.reset(key),
      this.#connection.run(this.#prefix + key, () => client.del(this.#prefix + key)),
    ])
  }
}

const partOf = (windowMs: number): number => Math.max(1, Math.floor(windowMs / partsOfWindow))
