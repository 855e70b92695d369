import { needText } from '#gateway/apis/chat-parts.ts'
import type { Conversations } from '#gateway/apis/conversations/conversations.ts'
import type { Caller } from '#gateway/call/caller.ts'
import { objectOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import type { ResponseHistory, StoredResponses } from '../stored-responses.ts'

/** The fields of a request that say where it goes on. */
type Continued = Pick<BodyOf<'responses.create'>, 'previous_response_id' | 'conversation'>

/** What was said before a request, and the conversation that it is a part of. */
export interface Earlier {
  readonly history: ResponseHistory | null
  readonly conversation: string | null
}

/** Reads what a request goes on from. @throws {ServiceError} `not_found`, `missing_field`; `bad_request` for two ways at once. */
export type ReadEarlier = (caller: Caller, request: Continued) => Promise<Earlier>

/** What came before a request, by the response or the conversation that it names. */
export const earlierIn =
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
