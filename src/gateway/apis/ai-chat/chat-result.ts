import type { ChatOutcome, ChatSummary } from '#gateway/call/chat-calls.ts'
import type { RememberedChat } from '#gateway/remembering/chat-memory.ts'
import { arrayOf, countOf, isObject, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
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
  const calls: PartialCall[] = []
  const [annotations, citations]: [unknown[], unknown[]] = [[], []]
  const state = { id: '' }
  return {
    chunk: (chunk) => {
      if (state.id === '') state.id = textOf(chunk.id)
      const delta = objectOf(objectOf(arrayOf(chunk.choices)[0]).delta)
      for (const call of arrayOf(delta.tool_calls)) addTo(calls, objectOf(call))
      annotations.push(...arrayOf(delta.annotations))
      citations.push(...arrayOf(delta.citations))
      const text = textOf(delta.content)
      remembered?.add(text)
      return text === '' ? '' : frame({ delta: text })
    },
    end: (summary) => {
      const whole = calls.map((call): Call => ({ id: call.id, type: 'function', function: functionOf(call) }))
      const last = { delta: '', id: state.id, ...citedIn({ annotations, citations }), ...endOf(summary, whole) }
      if (remembered === null) return `${frame(last)}data: [DONE]\n\n`
      return remembered.finish().then(() => `${frame({ ...last, memory: remembered.block })}data: [DONE]\n\n`)
    },
    fail: (error) => frame(errorFrame(error, requestId)),
  }
}

/** Returns what a text cites; nothing for a text without citations. */
const citedIn = ({ annotations, citations }: WireObject): Pick<Result, 'annotations' | 'citations'> => {
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

interface PartialCall {
  id: string
  name: string
  arguments: string
}

const addTo = (calls: PartialCall[], delta: WireObject): void => {
  const index = countOf(delta.index)
  while (calls.length <= index && calls.length < maxCalls) calls.push({ id: '', name: '', arguments: '' })
  const call = calls[index]
  if (call === undefined) return
  const fields = objectOf(delta.function)
  call.id ||= textOf(delta.id)
  call.name ||= textOf(fields.name)
  call.arguments += textOf(fields.arguments)
}

/** More calls than any model makes at once: a higher index is ignored as invalid. */
const maxCalls = 1024

const functionOf = ({ name, arguments: text }: PartialCall) => ({ name, arguments: text })

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
