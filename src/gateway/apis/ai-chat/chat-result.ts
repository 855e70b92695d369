import type { ChatOutcome, ChatSummary } from '#gateway/call/chat-calls.ts'
import { StreamedCalls } from '#gateway/call/streaming/streamed-calls.ts'
import { StreamedCitations } from '#gateway/call/streaming/streamed-citations.ts'
import type { RememberedChat } from '#gateway/remembering/chat-memory.ts'
import { arrayOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { ServiceError } from '#specs/errors/errors.ts'
import { codeIn } from '#specs/errors/wire-errors.ts'
import type { ResultOf } from '#specs/index.ts'
import type { StreamForm } from '../streamed-chat.ts'

type Result = ResultOf<'ai_chat.create'>
type Call = NonNullable<Result['toolCalls']>[number]

/** Converts a non-streamed answer to the form of `/api/ai/chat`. */
export const chatResultOf = (outcome: ChatOutcome): Result => {
  const { completion } = outcome
  const message = objectOf(objectOf(arrayOf(completion.choices)[0]).message)
  const calls = arrayOf(message.tool_calls).map((call) => wholeCall(objectOf(call)))
  return {
    id: textOf(completion.id),
    content: textOf(message.content),
    ...citedIn(message),
    ...endOf(outcome, calls),
  }
}

/**
 * Returns the frame writer of a streamed answer.
 * @param remembered memory that is updated from the answer; null for none.
 */
export const chatFrames = (remembered: RememberedChat | null, requestId: string): StreamForm => {
  const calls = new StreamedCalls()
  const cited = new StreamedCitations()
  const state = { id: '' }
  return {
    chunk: (chunk) => {
      if (state.id === '') state.id = textOf(chunk.id)
      const delta = objectOf(objectOf(arrayOf(chunk.choices)[0]).delta)
      calls.add(delta.tool_calls)
      cited.add(delta)
      const text = textOf(delta.content)
      remembered?.add(text)
      return text === '' ? '' : frame({ delta: text })
    },
    end: (summary) => {
      const last = { delta: '', id: state.id, ...citedIn(cited), ...endOf(summary, calls.whole) }
      if (remembered === null) return `${frame(last)}data: [DONE]\n\n`
      return remembered.finish().then(() => `${frame({ ...last, memory: remembered.block })}data: [DONE]\n\n`)
    },
    fail: (error) => frame(errorFrame(error, requestId)),
  }
}

/** Returns what a text cites; nothing for a text without citations. */
const citedIn = ({
  annotations,
  citations,
}: {
  readonly annotations?: unknown
  readonly citations?: unknown
}): Pick<Result, 'annotations' | 'citations'> => {
  const [pages, quotes] = [arrayOf(annotations).filter(isObject), arrayOf(citations).filter(isObject)]
  return { ...(pages.length > 0 && { annotations: pages }), ...(quotes.length > 0 && { citations: quotes }) }
}

/** Returns everything of an answer except its text. */
const endOf = (summary: ChatSummary, calls: readonly Call[]) => {
  const { usage, finishReason } = summary
  const prompt = usage.inputTokens
  const completion = usage.outputTokens
  const cost = summary.costUsd === null ? null : Number(summary.costUsd)
  const toolCalls = calls.length === 0 ? null : calls
  return {
    model: summary.model,
    provider: summary.route.provider,
    finishReason,
    finish_reason: finishReason,
    usage: {
      promptTokens: prompt,
      completionTokens: completion,
      totalTokens: prompt + completion,
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      ...(cost !== null && { costUsd: cost, cost_usd: cost }),
    },
    toolCalls,
    tool_calls: toolCalls,
    costUsd: cost,
    cost_usd: cost,
  }
}

const wholeCall = (call: WireObject): Call => {
  const fields = objectOf(call.function)
  return {
    id: textOf(call.id),
    type: 'function',
    function: { name: textOf(fields.name), arguments: textOf(fields.arguments) },
  }
}

const errorFrame = (error: ServiceError, requestId: string) => ({
  error: codeIn('flat', error.code),
  message: error.message,
  request_id: requestId,
})

const frame = (data: object): string => `data: ${JSON.stringify(data)}\n\n`
