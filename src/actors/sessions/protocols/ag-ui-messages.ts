import type { JsonObject } from '#storage/index.ts'
import type { MessagePage } from '../messages/message-fold.ts'

type Part = MessagePage['data'][number]['parts'][number]

/**
 * A session's messages as those of AG-UI, where an answer of the model with its calls is one message, and each output of
 * a tool and what the model reasoned another. Pure.
 */
export const agUiMessagesOf = ({ data }: MessagePage): readonly JsonObject[] =>
  data.flatMap(({ id, role, parts }) =>
    role === 'user' ? [{ id, role, content: contentOf(parts) }] : answersOf(parts).flatMap(messagesOf(id)),
  )

/**
 * The content of a message with these parts of a turn's input, as its event or the session's messages have them. Bytes
 * of images are left out: `sessions.image` has them by the id in the source. Pure.
 */
export const agUiContent = (parts: readonly JsonObject[]): JsonObject[] =>
  parts.map(({ text, image_url, image_id = '', mime_type }) => {
    if (text !== undefined) return { type: 'text', text }
    const from = image_url === undefined ? { type: 'file', value: image_id } : { type: 'url', value: image_url }
    return { type: 'image', source: { ...from, ...(mime_type !== undefined && { mimeType: mime_type }) } }
  })

const contentOf = (parts: readonly Part[]): string | JsonObject[] =>
  parts.every(({ type }) => type === 'text') ? textIn(parts) : agUiContent(parts.map((part) => ({ ...part })))

const textIn = (parts: readonly Part[]): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** Splits the parts of a turn where something else follows a call. */
const answersOf = (parts: readonly Part[]): readonly (readonly Part[])[] => {
  const answers: Part[][] = []
  for (const part of parts) {
    const last = answers.at(-1)
    const isNext = (part.type === 'text' || part.type === 'reasoning') && last?.some(({ type }) => type === 'tool')
    if (last === undefined || isNext) answers.push([part])
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
    const reasoned = parts.flatMap((part) =>
      part.type === 'reasoning' ? [{ id: `${id}_reasoning`, role: 'reasoning', content: part.text }] : [],
    )
    const content = textIn(parts)
    const answer = { id, role: 'assistant', content, ...(toolCalls.length > 0 && { toolCalls }) }
    const isAnswered = content !== '' || calls.length > 0 || reasoned.length === 0
    return [...reasoned, ...(isAnswered ? [answer] : []), ...results]
  }
