import { costField } from '#gateway/call/accounting/shown-cost.ts'
import type { Caller } from '#gateway/call/caller.ts'
import type { ChatCalls, ChatSummary } from '#gateway/call/chat-calls.ts'
import { StreamedCalls } from '#gateway/call/streaming/streamed-calls.ts'
import type { TokenUsage } from '#gateway/prices/usage.ts'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { realtimeOperation } from '../relay/response-charges.ts'
import type { SecretBudget } from '../secrets/secret-budget.ts'
import type { ActiveResponse } from './active-response.ts'
import { chatMessages } from './chat-messages.ts'
import type { Conversation } from './conversation.ts'
import type { ResponseEnd } from './response-writer.ts'

export interface ModelAnswerParts {
  readonly chats: Pick<ChatCalls, 'stream'>
  readonly caller: Caller
  readonly model: string
  readonly budget: SecretBudget | null
}

/** Answers a conversation with a chat model. @throws {ServiceError} */
export const modelAnswer = async (
  parts: ModelAnswerParts,
  conversation: Conversation,
  response: ActiveResponse,
): Promise<ResponseEnd> => {
  const { chats, caller, model, budget } = parts
  budget?.check()
  const { config, input } = response
  const items = input === null ? conversation.items : input.map((each) => referred(conversation, objectOf(each)))
  const { tools, toolChoice, maxTokens, instructions } = config
  const body = {
    model,
    messages: chatMessages(instructions, items),
    ...(tools.length > 0 && { tools, tool_choice: toolChoice }),
    ...(maxTokens !== null && { max_tokens: maxTokens }),
  }
  const calls = new StreamedCalls()
  const onCost = (usd: string | null) => void budget?.spent(usd)
  const call = { caller, operation: realtimeOperation, need: 'chat', body, signal: response.signal, onCost } as const
  const summary = await new Promise<ChatSummary>((resolve, reject) => {
    const control = chats.stream(call, {
      begin: () => {},
      chunk: (chunk) => {
        const delta = objectOf(objectOf(arrayOf(chunk.choices)[0]).delta)
        calls.add(delta.tool_calls)
        if (response.text(textOf(delta.content))) return true
        void response.free().then(() => control.resume())
        return false
      },
      end: resolve,
      fail: reject,
    })
    // an aborted call reports nothing
    response.signal.addEventListener('abort', () => reject(response.signal.reason), { once: true })
  })
  if (calls.all.length > 0) await response.spoken()
  for (const { id, name, arguments: args } of calls.all) response.writer.call(id, name, args)
  return endOf(summary)
}

/** An item of a response's own input, which may name one of the conversation. @throws {ServiceError} `not_found` */
const referred = (conversation: Conversation, item: WireObject): WireObject =>
  item.type === 'item_reference' ? conversation.get(textOf(item.id)) : item

const endOf = ({ finishReason, usage, costUsd }: ChatSummary): ResponseEnd => {
  const shown = { ...usageOf(usage), ...costField(costUsd) }
  if (finishReason === 'length') return { status: 'incomplete', details: { reason: 'max_output_tokens' }, usage: shown }
  if (finishReason === 'content_filter')
    return { status: 'incomplete', details: { reason: 'content_filter' }, usage: shown }
  return { status: 'completed', usage: shown }
}

const usageOf = ({ inputTokens, outputTokens, cachedTokens }: TokenUsage): WireObject => ({
  total_tokens: inputTokens + outputTokens,
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  input_token_details: {
    ...{ text_tokens: inputTokens, audio_tokens: 0, image_tokens: 0, cached_tokens: cachedTokens },
    cached_tokens_details: { text_tokens: cachedTokens, audio_tokens: 0, image_tokens: 0 },
  },
  output_token_details: { text_tokens: outputTokens, audio_tokens: 0 },
})
