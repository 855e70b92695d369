import type { JsonObject } from '#storage/index.ts'
import type { MessagePage } from '../messages/message-fold.ts'

type Part = MessagePage['data'][number]['parts'][number]

/**
 * A session's messages as those of AG-UI, where an answer of the model with its calls is one message, and each output of
 * a tool another. Pure.
 */
export const agUiMessagesOf = ({ data }: MessagePage): readonly JsonObject[] =>
  data.flatMap(({ id, role, parts }) =>
    role === 'user' ? [{ id, role, content: textIn(parts) }] : answersOf(parts).flatMap(messagesOf(id)),
  )

const textIn = (parts: readonly Part[]): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** Splits the parts of a turn where a text follows a call. */
const answersOf = (parts: readonly Part[]): readonly (readonly Part[])[] => {
  const answers: Part[][] = []
  for (const part of parts) {
    const last = answers.at(-1)
    if (last === undefined || (part.type === 'text' && last.some(({ type }) => type === 'tool'))) answers.push([part])
    else last.push(part)
  }
  return answers
}

const messagesOf =
  (turn: string) =>
  (parts: readonly Part[], at: number): readonly JsonObject[] => {
    const calls = parts.filter((part) => part.type === 'tool')
    const id = at === 0 ? turn : `${turn}_${at + 1}`
    const toolCalls = calls.map(({ action_id, tool, arguments: input }) => ({
      ...{ id: action_id, type: 'function' },
      function: { name: tool, arguments: JSON.stringify(input) },
    }))
    const results = calls.flatMap(({ action_id, output, status }) => {
      const content =
        output ?? (status === 'rejected' || status === 'cancelled' ? `The call was ${status}.` : undefined)
      return content === undefined ? [] : [{ id: `${action_id}_result`, role: 'tool', toolCallId: action_id, content }]
    })
    return [{ id, role: 'assistant', content: textIn(parts), ...(toolCalls.length > 0 && { toolCalls }) }, ...results]
  }
