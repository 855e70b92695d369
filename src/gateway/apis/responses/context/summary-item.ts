import { objectOf, parseJson, textOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ResponseItem } from '../input-items.ts'

/**
 * Encodes a summary as `encrypted_content` of a compaction item. It is encoded, not encrypted; callers treat it as
 * opaque and send it back unchanged.
 */
export const sealed = (summary: string): string => Buffer.from(JSON.stringify({ v: 1, summary })).toString('base64url')

/**
 * Converts a compaction item to a message with its summary.
 * @throws {ServiceError} `bad_request` for an item of another server.
 */
export const summaryMessage = (item: ResponseItem, path: string): ResponseItem => {
  const { v, summary } = objectOf(parseJson(Buffer.from(textOf(item.encrypted_content), 'base64url').toString('utf8')))
  if (v !== 1 || typeof summary !== 'string') {
    const message = `${path}.encrypted_content is not a compaction of this server.`
    throw new ServiceError('bad_request', { param: `${path}.encrypted_content`, message })
  }
  const text = `Summary of the conversation so far:\n\n${summary}`
  return {
    id: item.id,
    type: 'message',
    status: 'completed',
    role: 'developer',
    content: [{ type: 'input_text', text }],
  }
}
