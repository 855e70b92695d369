import type { MessageTokensCount } from '@anthropic-ai/sdk/resources/messages'
import type { UseCases } from '#actors/call/use-cases.ts'
import { callerOf } from '#gateway/call/caller.ts'
import type { ChatCall, ChatCalls } from '#gateway/call/chat-calls.ts'
import type { Route, Routes } from '#gateway/call/routes.ts'
import type { DocumentCalls } from '#gateway/documents/document-calls.ts'
import { capabilitiesOf } from '#gateway/prices/model-capabilities.ts'
import { arrayOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { ignoredTools, needOf } from '../chat-parts.ts'
import { streamedChat } from '../streamed-chat.ts'
import { messageOf } from './message-answer.ts'
import { countMessage } from './message-count.ts'
import { MessageFrames } from './message-frames.ts'
import { messageRequestOf, type RouteTraits } from './message-request.ts'

export interface MessageParts {
  readonly chat: ChatCalls
  readonly routes: Routes
  readonly documents: Pick<DocumentCalls, 'create'>
}

type MessageUseCases = Pick<UseCases, 'messages.create' | 'messages.count_tokens'>

const traitsOf = (first: Route | undefined): RouteTraits => {
  if (first === undefined) return { own: false, reasons: true }
  const { provider, model, format } = first
  return { own: format === 'anthropic', reasons: capabilitiesOf(provider, model)?.includes('reasoning') !== false }
}

/**
 * Threads are not kept here. Anthropic's tool runners send the whole conversation when they read this code; passed over, a
 * thread would leave the model with the newest tool result alone.
 */
const refuseThread = (body: object): void => {
  const thread = 'thread' in body ? body.thread : undefined
  if (thread === undefined || thread === null) return
  const extra = { details: { error_code: 'thread_unsupported_request' } }
  throw new ServiceError('bad_request', { param: 'thread', message: 'Threads are not kept: send all messages.', extra })
}

/** The use-cases of Anthropic's Messages form. */
export const messageUseCases = ({ chat, routes, documents }: MessageParts): MessageUseCases => ({
  'messages.create': async (call) => {
    refuseThread(call.body)
    const caller = callerOf(call)
    const [first] = await routes.resolve(caller.project, call.body.model, 'chat')
    const { body, ignored } = messageRequestOf(call.body, traitsOf(first))
    const own = [['request-id', call.requestId] as const, ...ignoredTools(ignored)]
    const need = needOf(arrayOf(body.messages))
    const chatCall: ChatCall = { caller, operation: 'messages.create', need, body, signal: call.signal }
    if (call.body.stream === true)
      return { bytes: await streamedChat(chat, chatCall, { form: new MessageFrames(call.requestId, own) }) }
    const outcome = await chat.complete(chatCall)
    return { json: messageOf(outcome), headers: [...outcome.headers, ...own] }
  },
  'messages.count_tokens': async (call) => {
    const caller = callerOf(call)
    const [first] = await routes.resolve(caller.project, call.body.model, 'chat')
    const { inputTokens, by } = await countMessage({ documents, caller, signal: call.signal }, call.body, first)
    const headers = [['request-id', call.requestId] as const, ['x-token-count', by] as const]
    return { json: { input_tokens: inputTokens } satisfies MessageTokensCount, headers }
  },
})
