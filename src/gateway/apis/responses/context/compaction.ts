import type { Caller } from '#gateway/call/caller.ts'
import type { ChatCalls } from '#gateway/call/chat-calls.ts'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf } from '#specs/index.ts'
import { usageDocument } from '../response-document.ts'
import { sealed } from './summary-item.ts'

/** A conversation to be summarized. */
export interface ToCompact {
  readonly caller: Caller
  readonly request: BodyOf<'responses.compact'>
  /** In the form of chat completions. */
  readonly messages: readonly WireObject[]
  readonly signal: AbortSignal
  /** s since the epoch. */
  readonly createdAt: number
}

const request = [
  'Summarize the conversation below for a model that continues it and sees nothing else of it.',
  'Keep what was asked for, what was decided, names, numbers, quotes that matter, results of tools, and what is still open.',
  'Answer with the summary alone.',
].join(' ')

/**
 * Lets the model summarize a conversation.
 * @returns OpenAI's compaction document; its item can be sent in the input of a later request.
 */
export const compacted = async (chat: ChatCalls, task: ToCompact) => {
  const { caller, signal, messages, createdAt, request: compaction } = task
  const { completion, usage, headers, costUsd } = await chat.complete({
    ...{ caller, signal, operation: 'responses.compact', need: 'chat' },
    body: {
      model: compaction.model,
      messages: [
        { role: 'system', content: compaction.instructions ? `${request}\n\n${compaction.instructions}` : request },
        { role: 'user', content: messages.map(lineOf).join('\n\n') },
      ],
    },
  })
  const summary = textOf(objectOf(objectOf(arrayOf(completion.choices)[0]).message).content)
  if (summary === '') throw new ServiceError('provider_error', { message: 'The model returned no summary.' })
  const item = { id: newId('cmp'), type: 'compaction', encrypted_content: sealed(summary) }
  const document = {
    ...{ id: newId('resp'), object: 'response.compaction' as const, created_at: createdAt },
    ...{ output: [item], usage: usageDocument(usage, costUsd) },
  }
  return { json: document, headers }
}

/** Formats one message as a paragraph of the text to be summarized. */
const lineOf = ({ role, content, tool_calls }: WireObject): string => {
  const calls = arrayOf(tool_calls).map((call) => {
    const { name, arguments: written } = objectOf(objectOf(call).function)
    return `[calls ${textOf(name)}: ${textOf(written)}]`
  })
  const parts = typeof content === 'string' ? [content] : arrayOf(content).map(partText)
  return `${textOf(role)}: ${[...parts, ...calls].join(' ')}`
}

const partText = (part: unknown): string => {
  const { type, text } = objectOf(part)
  return typeof text === 'string' ? text : `[${textOf(type)}]`
}
