import { createHash, type Hash } from 'node:crypto'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'

/** Characters of a request up to which it is hashed; that takes about 5 ms. */
const maxChars = 512 * 1024

/** Fields that do not change what a model answers. */
const ignored: ReadonlySet<string> = new Set([
  ...['stream', 'stream_options', 'models', 'memory', 'metadata', 'user', 'store'],
  ...['safety_identifier', 'prompt_cache_key', 'prompt_cache_retention'],
])

/** Returns a hash of everything in a request that determines its answer; null for one that is too long. */
export const exactKey = (kind: string, body: WireObject): string | null => {
  const known = Object.fromEntries(Object.entries(body).filter(([name]) => !ignored.has(name)))
  return hashed([kind, known])
}

/** A chat whose last message may be compared with others by its meaning. */
export interface LastQuestion {
  /** Hash of all the rest of the request. */
  readonly context: string
  readonly text: string
}

/** Most characters of a last message that is compared: longer ones have too many details for one vector. */
const maxQuestionChars = 1_000

/** Returns null for a request with tools, or whose last message is not a short text. */
export const questionOf = (kind: string, body: WireObject): LastQuestion | null => {
  if (arrayOf(body.tools).length > 0 || arrayOf(body.functions).length > 0) return null
  const messages = arrayOf(body.messages).map(objectOf)
  const last = messages.at(-1)
  if (last === undefined || last.role !== 'user') return null
  const parts = arrayOf(last.content).map(objectOf)
  if (parts.some(({ type }) => type !== 'text')) return null
  const text = typeof last.content === 'string' ? last.content : parts.map((part) => textOf(part.text)).join('\n')
  if (text.trim() === '' || text.length > maxQuestionChars) return null
  const { content: _content, ...rest } = last
  const context = exactKey(kind, { ...body, messages: [...messages.slice(0, -1), rest] })
  return context === null ? null : { context, text }
}

/** Hashes plain data, with the fields of objects in the order of their names; null when it is too long. */
export const hashed = (value: unknown): string | null => {
  const hash = createHash('sha256')
  return write(value, hash, maxChars) < 0 ? null : hash.digest('base64url')
}

/** Returns the number of characters that are left; negative when there were too many. */
const write = (value: unknown, hash: Hash, left: number): number => {
  if (left < 0) return left
  if (Array.isArray(value)) {
    hash.update('[')
    const rest = value.reduce<number>((before, item) => write(item, hash, before), left - 2)
    hash.update(']')
    return rest
  }
  if (!isObject(value)) {
    if (typeof value === 'string' && value.length > left) return -1
    const text = `${JSON.stringify(value) ?? 'null'},`
    hash.update(text)
    return left - text.length
  }
  hash.update('{')
  let rest = left - 1
  for (const name of Object.keys(value).sort()) {
    if (value[name] === undefined || rest < 0) continue
    hash.update(`${JSON.stringify(name)}:`)
    rest = write(value[name], hash, rest - name.length - 3)
  }
  hash.update('}')
  return rest
}
