import type { UseCases } from '#actors/call/use-cases.ts'
import { callerOf } from '#gateway/call/caller.ts'
import type { ChatCalls } from '#gateway/call/chat-calls.ts'
import { planResponse } from '../response-plan.ts'
import type { StoredResponses } from '../stored-responses.ts'
import { compacted } from './compaction.ts'
import type { ReadEarlier } from './prior-items.ts'
import { inputTokens } from './token-count.ts'

interface ContextParts {
  readonly chat: ChatCalls
  readonly stored: StoredResponses
  readonly earlier: ReadEarlier
  readonly now: () => number
}

/**
 * Use-cases that process the context of a response without making the response: counting its tokens, and summarizing
 * it.
 */
export const contextUseCases = ({
  chat,
  stored,
  earlier,
  now,
}: ContextParts): Pick<UseCases, 'responses.input_tokens' | 'responses.compact'> => ({
  'responses.input_tokens': async (call) => {
    const caller = callerOf(call)
    const { body } = call
    const { history } = await earlier(caller, body)
    const request = { ...body, model: body.model ?? '' }
    const { messages, tools } = planResponse(request, history, { sent: await stored.referenced(caller, body.input) })
    const json = { object: 'response.input_tokens' as const, input_tokens: inputTokens(messages, tools.functions) }
    return { json, headers: [['x-token-count', 'estimate'] as const] }
  },
  'responses.compact': async (call) => {
    const caller = callerOf(call)
    const { body: request, signal } = call
    const { history } = await earlier(caller, request)
    const { messages } = planResponse(request, history, { sent: await stored.referenced(caller, request.input) })
    return compacted(chat, { caller, request, messages, signal, createdAt: Math.floor(now() / 1000) })
  },
})
