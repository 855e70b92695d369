import type { Result } from 'ioredis'
import type { SharedTurns, TurnRule, TurnState } from '../cluster-ports.ts'
import type { Connection, RedisClient } from './connection.ts'

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeTurn(
      key: string,
      holder: string,
      atOnce: number,
      spacingMs: number,
      holdMs: number,
    ): Result<readonly [taken: number, waitMs: number, postponed: number], Context>
    giveTurnBack(key: string, holder: string): Result<number, Context>
    postponeTurns(key: string, ms: number): Result<number, Context>
  }
}

/**
 * Beginning of the scripts that write: a hash of the turns' ends by holder (`held:…`), when the next turn may begin
 * (`next`), and until when all are postponed (`postponed`), in ms by the server's clock. The key expires with the last
 * of these times.
 */
const place = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local fields = redis.call('HGETALL', KEYS[1])
local held, first, last, next, postponed = 0, nil, 0, 0, 0
for i = 1, #fields, 2 do
  local at = tonumber(fields[i + 1])
  if at <= now then
    redis.call('HDEL', KEYS[1], fields[i])
  else
    last = math.max(last, at)
    if fields[i] == 'next' then
      next = at
    elseif fields[i] == 'postponed' then
      postponed = at
    else
      held = held + 1
      first = math.min(first or at, at)
    end
  end
end
local function set(field, at)
  redis.call('HSET', KEYS[1], field, string.format('%.0f', at))
  last = math.max(last, at)
  redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last))
end`

const takeTurn = `${place}
if postponed > now then
  return { 0, postponed - now, 1 }
end
if held >= tonumber(ARGV[2]) then
  return { 0, first - now, 0 }
end
if next > now then
  return { 0, next - now, 0 }
end
set('held:' .. ARGV[1], now + tonumber(ARGV[4]))
if tonumber(ARGV[3]) > 0 then
  set('next', now + tonumber(ARGV[3]))
end
return { 1, 0, 0 }`

const giveTurnBack = `return redis.call('HDEL', KEYS[1], 'held:' .. ARGV[1])`

const postponeTurns = `${place}
set('postponed', math.max(postponed, now + tonumber(ARGV[1])))
return 1`

/** Adds the commands to a connection. */
export const defineTurns = (client: RedisClient): void => {
  client.defineCommand('takeTurn', { numberOfKeys: 1, lua: takeTurn })
  client.defineCommand('giveTurnBack', { numberOfKeys: 1, lua: giveTurnBack })
  client.defineCommand('postponeTurns', { numberOfKeys: 1, lua: postponeTurns })
}

/** Turns that all nodes share; while Redis is unavailable, turns of this node alone. */
export class RedisTurns implements SharedTurns {
  readonly #connection: Connection
  readonly #prefix: string
  readonly #own: SharedTurns

  constructor(connection: Connection, prefix: string, own: SharedTurns) {
    this.#connection = connection
    this.#prefix = `${prefix}turns:`
    this.#own = own
  }

  async take(key: string, holder: string, rule: TurnRule): Promise<TurnState> {
    const { client } = this.#connection
    const { atOnce, spacingMs, holdMs } = rule
    const answer = await this.#connection.run(this.#prefix + key, () =>
      client.takeTurn(this.#prefix + key, holder, atOnce, Math.ceil(spacingMs), Math.ceil(holdMs)),
    )
    if (answer === undefined) return this.#own.take(key, holder, rule)
    const [taken, waitMs, postponed] = answer
    return { taken: taken === 1, waitMs, postponed: postponed === 1 }
  }

  /** A turn may have been taken from the own turns while Redis was unavailable. */
  async giveBack(key: string, holder: string): Promise<void> {
    const { client } = this.#connection
    await Promise.all([
      this.#own.giveBack(key, holder),
      this.#connection.run(this.#prefix + key, () => client.giveTurnBack(this.#prefix + key, holder)),
    ])
  }

  async postpone(key: string, ms: number): Promise<void> {
    const { client } = this.#connection
    await Promise.all([
      this.#own.postpone(key, ms),
      this.#connection.run(this.#prefix + key, () => client.postponeTurns(this.#prefix + key, Math.ceil(ms))),
    ])
  }
}
