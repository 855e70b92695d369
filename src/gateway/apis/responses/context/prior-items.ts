import { needText } from '#gateway/apis/chat-parts.ts'
import type { Conversations } from '#gateway/apis/conversations/conversations.ts'
import type { Caller } from '#gateway/call/caller.ts'
import { objectOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import type { ResponseHistory, StoredResponses } from '../stored-responses.ts'

/** The fields of a request that refer to earlier items. */
type Continued = Pick<BodyOf<'responses.create'>, 'previous_response_id' | 'conversation'>

/** The items before a request, and the id of the conversation that it belongs to. */
interface PriorItems {
  readonly history: ResponseHistory | null
  readonly conversation: string | null
}

/**
 * Reads the items that a request continues.
 * @throws {ServiceError} `not_found`, `missing_field`; `bad_request` when it names both a previous response and a
 *   conversation.
 */
export type ReadEarlier = (caller: Caller, request: Continued) => Promise<PriorItems>

/** Returns a reader of the items before a request, from the response or the conversation that the request names. */
export const priorItemsIn =
  (stored: StoredResponses, conversations: Conversations): ReadEarlier =>
  async (caller, request) => {
    const before = request.previous_response_id
    const conversation = conversationOf(request)
    if (conversation === null) return { history: before ? await stored.history(caller, before) : null, conversation }
    const { items } = await conversations.named(caller, conversation)
    return { history: { items, chain: [] }, conversation }
  }

const conversationOf = ({ conversation, previous_response_id }: Continued): string | null => {
  if (conversation === undefined || conversation === null) return null
  if (previous_response_id) {
    const message = 'previous_response_id and conversation cannot be combined.'
    throw new ServiceError('bad_request', { param: 'conversation', message })
  }
  return needText(typeof conversation === 'string' ? conversation : objectOf(conversation).id, 'conversation')
}
