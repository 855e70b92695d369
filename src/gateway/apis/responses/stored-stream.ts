import { PushedBody, streamHeaders } from '#gateway/call/streaming/pushed-body.ts'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { ResponseItem } from './input-items.ts'
import type { ResponseDocument } from './response-document.ts'

/** An event without its sequence number. */
type StoredEvent = readonly [type: string, fields: WireObject]

/** Number of the events that begin a response. */
export const beginnings = 2

/**
 * Reconstructs the events of a stored response from its document, with one delta for each part.
 *
 * @param after events up to this number are left out. The last event is always sent, because the original stream had
 * more deltas, so `after` may exceed all numbers here.
 */
export const storedStream = (document: ResponseDocument, after: number | undefined) => {
  const body = new PushedBody({ resume: () => {} })
  body.write(beginningFrames(document, after))
  body.write(restFrames(document, { after, first: beginnings }))
  body.end()
  return { contentType: 'text/event-stream', bytes: body, headers: streamHeaders }
}

/** Returns the frames that begin a response, without those up to event `after`. */
export const beginningFrames = (document: ResponseDocument, after: number | undefined): string =>
  beginningOf(document)
    .map((event, number) => (after !== undefined && number <= after ? '' : frameOf(event, number)))
    .join('')

/** Which frames of the rest of a response a reader gets. */
interface Rest {
  readonly after: number | undefined
  /** Number of the first of them. */
  readonly first: number
  readonly isLastOnly?: boolean
}

/** Returns the frames of an ended response that follow those of its beginning, without those up to event `after`. */
export const restFrames = (document: ResponseDocument, { after = -1, first, isLastOnly = false }: Rest): string => {
  const events = isLastOnly ? [lastOf(document)] : [...document.output.flatMap(itemEvents), lastOf(document)]
  return events
    .map((event, at) => {
      const number = first + at
      if (at === events.length - 1) return frameOf(event, Math.max(number, after + 1))
      return number <= after ? '' : frameOf(event, number)
    })
    .join('')
}

/** Returns the frame of an event of a response. */
export const frameOf = ([type, fields]: StoredEvent, sequence_number: number): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...fields })}\n\n`

const beginningOf = (document: ResponseDocument): readonly StoredEvent[] => {
  const begun = { ...document, status: 'in_progress', error: null, output: [], usage: null, completed_at: null }
  return [
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
  ]
}

const lastOf = (document: ResponseDocument): StoredEvent => [
  // OpenAI has no event for a cancelled response
  document.status === 'cancelled' ? 'response.incomplete' : `response.${document.status}`,
  { response: document },
]

const itemEvents = (item: ResponseItem, output_index: number): readonly StoredEvent[] => {
  const place = { item_id: item.id, output_index }
  const inner = item.type === 'message' ? messageEvents(item, place) : callEvents(item, place)
  return [
    ['response.output_item.added', { output_index, item: begunItem(item) }],
    ...inner,
    ['response.output_item.done', { output_index, item }],
  ]
}

/** Returns an item as it was before its first delta. */
const begunItem = (item: ResponseItem): ResponseItem => {
  const begun = 'status' in item ? { ...item, status: 'in_progress' } : item
  if (item.type === 'message') return { ...begun, content: [] }
  if (item.type === 'function_call') return { ...begun, arguments: '' }
  return item.type === 'custom_tool_call' ? { ...begun, input: '' } : begun
}

const messageEvents = ({ content }: ResponseItem, place: WireObject): readonly StoredEvent[] =>
  arrayOf(content).flatMap((each, content_index): readonly StoredEvent[] => {
    const part = objectOf(each)
    const at = { ...place, content_index }
    const refusal = part.type === 'refusal'
    const name = refusal ? 'refusal' : 'text'
    const text = textOf(refusal ? part.refusal : part.text)
    const kind = refusal ? 'response.refusal' : 'response.output_text'
    const logprobs = refusal ? {} : { logprobs: [] }
    return [
      ['response.content_part.added', { ...at, part: { ...part, [name]: '', ...(!refusal && { annotations: [] }) } }],
      [`${kind}.delta`, { ...at, delta: text, ...logprobs }],
      [`${kind}.done`, { ...at, [name]: text, ...logprobs }],
      ['response.content_part.done', { ...at, part }],
    ]
  })

const callEvents = (item: ResponseItem, place: WireObject): readonly StoredEvent[] => {
  if (item.type === 'function_call') {
    const { arguments: written, name } = item
    return [
      ['response.function_call_arguments.delta', { ...place, delta: written }],
      ['response.function_call_arguments.done', { ...place, name, arguments: written }],
    ]
  }
  if (item.type !== 'custom_tool_call') return []
  return [
    ['response.custom_tool_call_input.delta', { ...place, delta: item.input }],
    ['response.custom_tool_call_input.done', { ...place, input: item.input }],
  ]
}
