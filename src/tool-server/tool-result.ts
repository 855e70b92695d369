import type { JsonObject } from '#specs/dsl/json.ts'
import { jsonObjectOf } from './schema.ts'

/** An answer of the API. */
export interface ApiAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

/** An event of a turn's stream. */
export interface TurnEvent {
  readonly event: string
  readonly data: JsonObject | string
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
  const isLong = body.length > maxResultLength
  const parsed = contentType.startsWith('application/json') && !isLong ? jsonObjectOf(body) : null
  // clients refuse a result without the structure that the tool promises
  if (status >= 400 || parsed === null) return { ...textResult(body), isError: true }
  return { ...textResult(body), structuredContent: parsed }
}

/** Converts the events of a turn to a tool result. */
export const eventsResult = (events: readonly TurnEvent[]): ToolResult => {
  const text = JSON.stringify(events)
  if (text.length > maxResultLength) return { ...textResult(text), isError: true }
  return { ...textResult(text), structuredContent: { events: events.map(({ event, data }) => ({ event, data })) } }
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
