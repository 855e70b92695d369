import type { Result } from 'ioredis'
import {
  type AnswerPlace,
  type AnswerStore,
  answerOverhead,
  type FoundAnswers,
  type KeptAnswer,
} from '../answer-store.ts'
import type { Connection, RedisClient } from './connection.ts'

declare module 'ioredis' {
  interface RedisCommander<Context> {
    readAnswers(
      prefix: string,
      project: string,
      lane: string,
      ...keys: string[]
    ): Result<readonly (string | null)[], Context>
    putAnswer(prefix: string, ...rest: readonly (string | number)[]): Result<number, Context>
    forgetAnswers(
      prefix: string,
      project: string,
      lanes: string,
      markMs: number,
      atOnce: number,
    ): Result<number, Context>
  }
}

/** Time in ms for which Redis knows what a project forgot: longer than any call. */
const markMs = 24 * 60 * 60_000
/** Number of answers that one script removes, so that Redis answers others in between. */
const forgottenAtOnce = 500

/**
 * Beginning of each script. Bytes are counted in sorted sets: of the projects, of the lanes of each, and in each lane the number
 * of the last use of every key. A value that has expired is counted until its lane is cleaned or it is the least recently used.
 */
const names = `
local P = KEYS[1]
local function lanesOf(project) return P .. 'lanes:' .. project end
local function usedOf(project, lane) return P .. 'used:' .. project .. ':' .. lane end
local function sizesOf(project, lane) return P .. 'sizes:' .. project .. ':' .. lane end
local function valueOf(project, lane, key) return P .. 'value:' .. project .. ':' .. lane .. ':' .. key end
local function add(project, lane, bytes)
  if tonumber(redis.call('ZINCRBY', lanesOf(project), bytes, lane)) <= 0 then redis.call('ZREM', lanesOf(project), lane) end
  if tonumber(redis.call('ZINCRBY', P .. 'projects', bytes, project)) <= 0 then redis.call('ZREM', P .. 'projects', project) end
  return redis.call('INCRBY', P .. 'total', bytes)
end
local function remove(project, lane, key)
  redis.call('DEL', valueOf(project, lane, key))
  redis.call('ZREM', usedOf(project, lane), key)
  local bytes = redis.call('HGET', sizesOf(project, lane), key)
  if bytes then
    redis.call('HDEL', sizesOf(project, lane), key)
    add(project, lane, -bytes)
  end
end`

const readAnswers = `${names}
local project, lane = ARGV[1], ARGV[2]
local found = { redis.call('GET', P .. 'mark:' .. project) or '0' }
for i = 3, #ARGV do
  local value = redis.call('GET', valueOf(project, lane, ARGV[i]))
  if value then redis.call('ZADD', usedOf(project, lane), 'XX', redis.call('INCR', P .. 'uses'), ARGV[i]) end
  found[i - 1] = value
end
return found`

const putAnswer = `${names}
local project, lane, key, text = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if (redis.call('GET', P .. 'mark:' .. project) or '0') ~= ARGV[7] then return 0 end
remove(project, lane, key)
for _, old in ipairs(redis.call('ZRANGE', usedOf(project, lane), 0, 7)) do
  if redis.call('EXISTS', valueOf(project, lane, old)) == 0 then remove(project, lane, old) end
end
redis.call('SET', valueOf(project, lane, key), text, 'PX', ARGV[6])
redis.call('ZADD', usedOf(project, lane), redis.call('INCR', P .. 'uses'), key)
redis.call('HSET', sizesOf(project, lane), key, ARGV[5])
local total = add(project, lane, ARGV[5])
while total > tonumber(ARGV[8]) do
  local largest = redis.call('ZREVRANGE', P .. 'projects', 0, 0)[1]
  if not largest then
    redis.call('DEL', P .. 'total')
    break
  end
  local long = redis.call('ZREVRANGE', lanesOf(largest), 0, 0)[1]
  local old = long and redis.call('ZRANGE', usedOf(largest, long), 0, 0)[1]
  if old then
    remove(largest, long, old)
  else
    redis.call('ZREM', P .. 'projects', largest)
  end
  total = tonumber(redis.call('GET', P .. 'total') or '0')
end
return 1`

const forgetAnswers = `${names}
local project, left = ARGV[1], tonumber(ARGV[4])
redis.call('INCR', P .. 'mark:' .. project)
redis.call('PEXPIRE', P .. 'mark:' .. project, ARGV[3])
for _, lane in ipairs(redis.call('ZRANGE', lanesOf(project), 0, -1)) do
  if string.sub(lane, 1, #ARGV[2]) == ARGV[2] then
    for _, key in ipairs(redis.call('ZRANGE', usedOf(project, lane), 0, left - 1)) do
      remove(project, lane, key)
      left = left - 1
    end
    if left <= 0 then return 1 end
  end
end
return 0`

/** Adds the commands to a connection. */
export const defineAnswers = (client: RedisClient): void => {
  client.defineCommand('readAnswers', { numberOfKeys: 1, lua: readAnswers })
  client.defineCommand('putAnswer', { numberOfKeys: 1, lua: putAnswer })
  client.defineCommand('forgetAnswers', { numberOfKeys: 1, lua: forgetAnswers })
}

/** Answers that all nodes share; none while Redis is unavailable. */
export class RedisAnswers implements AnswerStore {
  readonly #connection: Connection
  readonly #prefix: string
  readonly #maxBytes: number

  constructor(connection: Connection, prefix: string, maxBytes: number) {
    this.#connection = connection
    this.#prefix = prefix
    this.#maxBytes = maxBytes
  }

  async read({ project, lane }: AnswerPlace, keys: readonly string[]): Promise<FoundAnswers | null> {
    const { client } = this.#connection
    const found = await this.#connection.run(this.#prefix, () =>
      client.readAnswers(this.#prefix, project, lane, ...keys),
    )
    if (found === undefined) return null
    const [mark, ...values] = found
    return { values: keys.map((_, at) => values[at] ?? null), mark: Number(mark) }
  }

  async put({ project, lane }: AnswerPlace, key: string, { text, ttlMs, mark }: KeptAnswer): Promise<void> {
    const { client } = this.#connection
    const bytes = Buffer.byteLength(text) + answerOverhead
    const value = [text, bytes, Math.max(1, Math.round(ttlMs)), mark, this.#maxBytes]
    await this.#connection.run(this.#prefix, () => client.putAnswer(this.#prefix, project, lane, key, ...value))
  }

  async forget(project: string, lanes = ''): Promise<void> {
    const { client } = this.#connection
    for (let more: number | undefined = 1; more === 1; )
      more = await this.#connection.run(this.#prefix, () =>
        client.forgetAnswers(this.#prefix, project, lanes, markMs, forgottenAtOnce),
      )
  }
}
