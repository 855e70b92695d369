import { createHash } from 'node:crypto'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { type ActorCaller, type Caller, isRequest } from '../caller.ts'

/** Characters of a message that distinguish a conversation. */
const maxChars = 2_000

/**
 * Returns a text that is the same for all calls of one conversation, so that they use one key of a pool: the cache key
 * that the caller gives, the session or run, or the beginning of the messages up to the first one of the user.
 */
export const conversationName = (caller: Caller | ActorCaller, body: WireObject): string | null => {
  const given = textOf(body.prompt_cache_key)
  if (given !== '') return given
  if (!isRequest(caller) && caller.actor !== undefined) return caller.actor
  const messages = arrayOf(body.messages).map(objectOf)
  const first = messages.findIndex(({ role }) => role === 'user')
  if (first === -1) return null
  const hash = createHash('sha256')
  for (const { content } of messages.slice(0, first + 1)) hash.update(beginning(content)).update('\0')
  return hash.digest('base64url')
}

const beginning = (content: unknown): string => {
  if (typeof content === 'string') return content.slice(0, maxChars)
  const texts = arrayOf(content).map((part) => textOf(objectOf(part).text))
  return texts.join('\n').slice(0, maxChars)
}
