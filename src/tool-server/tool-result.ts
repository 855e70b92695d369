import type { JsonObject } from '#specs/dsl/json.ts'

/** An answer of the API. */
export interface ApiAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** A result as clients receive it. */
export type ToolResult = {
  readonly content: { type: 'text'; text: string }[]
  readonly structuredContent?: JsonObject
  readonly isError?: boolean
}

/** Maximum number of characters of a result. */
export const maxResultLength = 400_000

/** Converts an answer to a tool result. An API error becomes a tool error, so that the model can read it. */
export const resultOf = ({ status, contentType, body }: ApiAnswer): ToolResult => {
  if (contentType.startsWith('text/event-stream')) return textResult(JSON.stringify(framesOf(body)))
  const isError = status >= 400
  const parsed = contentType.startsWith('application/json') ? objectOf(body) : null
  return {
    ...textResult(body),
    ...(isError && { isError }),
    ...(parsed !== null && !isError && body.length <= maxResultLength && { structuredContent: parsed }),
  }
}

/** A tool error for a call that reached no operation. */
export const failedResult = (message: string): ToolResult => ({ ...textResult(message), isError: true })

const textResult = (text: string): ToolResult => ({
  content: [
    {
      type: 'text',
      text: text.length <= maxResultLength ? text : `${text.slice(0, maxResultLength)}\n[truncated]`,
    },
  ],
})

/** Events of a stream, without text deltas, since a later event has the whole text. */
const framesOf = (stream: string): readonly JsonObject[] =>
  stream.split('\n\n').flatMap((frame) => {
    const field = (name: string): string | undefined =>
      frame
        .split('\n')
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2)
    const event = field('event')
    const data = field('data')
    if (event === undefined || data === undefined || event.endsWith('.delta')) return []
    return [{ event, data: objectOf(data) ?? data }]
  })

const objectOf = (text: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
