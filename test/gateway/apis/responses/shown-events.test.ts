import { describe, expect, it } from 'vitest'
import { documentOf } from '#gateway/apis/responses/background/schema.ts'
import { ShownEvents, shownBy } from '#gateway/apis/responses/background/shown-events.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'

type Event = readonly [type: string, fields: WireObject]

const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
const delta = (text: string): Event => ['response.output_text.delta', { ...place, delta: text, logprobs: [] }]
const events: readonly Event[] = [
  ['response.output_item.added', { output_index: 0, item: { id: 'msg_1', content: [] } }],
  ...['Hel', 'lo ', '\0', '\n', '"'].map(delta),
  ['response.output_text.done', { ...place, text: 'Hello \0\n"', logprobs: [] }],
  [
    'response.output_item.done',
    { output_index: 0, item: { id: 'msg_1', content: [{ text: 'Hello \0\n"' }, '\0', ''] } },
  ],
  ['response.function_call_arguments.delta', { item_id: 'fc_1', output_index: 1, delta: '{' }],
  ['response.function_call_arguments.delta', { item_id: 'fc_1', output_index: 1, delta: '}' }],
]
const document = { id: 'resp_1', status: 'completed', output: [{ id: 'msg_1', type: 'message', content: [] }] }

/** The texts that are shown of these events. */
const shownOf = (all: readonly Event[]): readonly string[] => {
  const texts: string[] = []
  const emit = shownBy((text) => texts.push(text))
  for (const [type, fields] of all) emit(type, fields)
  return texts
}

interface Read {
  readonly after?: number
  /** The attempt that there is when the reader joins. */
  readonly joined?: number
  /** The texts shown by each attempt. */
  readonly attempts: readonly (readonly string[])[]
}

/** What a reader gets, to the end. */
const readOf = ({ after, joined = 0, attempts }: Read): readonly WireObject[] => {
  let frames = ''
  const reader = new ShownEvents({ after, attempt: joined }, (frame) => {
    frames += frame
  })
  for (const [attempt, texts] of attempts.entries()) {
    for (const text of texts)
      atOnce(
        reader.take({
          sequence: 1,
          event_type: 'response.output',
          payload: { delta: text, ...(attempt > 0 && { attempt }) },
        }),
      )
  }
  reader.end(documentOf(document))
  return Array.from(frames.matchAll(/^data: (.*)$/gm), ([, data = '']) => JSON.parse(data))
}

const numbersOf = (read: readonly WireObject[]) => read.map(({ sequence_number }) => sequence_number)

describe('the events of a background response', () => {
  const texts = shownOf(events)

  it('reach a reader as they were made, numbered after those that begin the response', () => {
    const read = readOf({ attempts: [texts] })
    expect(read.slice(0, -1)).toEqual(
      events.map(([type, fields], at) => ({ type, sequence_number: at + 2, ...fields })),
    )
    expect(read.at(-1)).toEqual({ type: 'response.completed', sequence_number: events.length + 2, response: document })
  })

  it('are the same when several are one text', () => {
    expect(readOf({ attempts: [[texts.join('')]] })).toEqual(readOf({ attempts: [texts] }))
  })

  it('cost little more than their text', () => {
    const word = 'word '
    const many = shownOf(Array.from({ length: 200 }, () => delta(word)))
    expect(many.join('').length).toBeLessThan(200 * (word.length + 3) + 200)
    const text = word.repeat(200)
    const done: Event = ['response.output_text.done', { ...place, text }]
    expect(shownOf([...Array.from({ length: 200 }, () => delta(word)), done]).at(-1)?.length).toBeLessThan(200)
  })

  it('are those after a given one for a reader that resumes, wherever it broke off', () => {
    const all = readOf({ attempts: [texts] })
    for (let after = 1; after < events.length + 2; after++)
      expect(readOf({ after, attempts: [texts] })).toEqual(all.filter((_, at) => at + 2 > after))
  })

  it('are of one attempt for a reader: after a crash it gets the end, which has the output', () => {
    const cut = texts.slice(0, 3)
    const end = { type: 'response.completed', sequence_number: 1_000_000 + events.length + 2, response: document }
    const followed = readOf({ attempts: [cut, texts] })
    expect(followed).toEqual([...readOf({ attempts: [texts] }).slice(0, 3), end])
    expect(readOf({ after: 4, joined: 1, attempts: [cut, texts] })).toEqual([end])
  })

  it('are those of the newest attempt for a reader that had none yet', () => {
    const followed = readOf({ attempts: [[], texts] })
    expect(numbersOf(followed)).toEqual([...events, 'end'].map((_, at) => 1_000_002 + at))
    for (const after of [undefined, 1])
      expect(
        readOf({ ...(after !== undefined && { after }), joined: 1, attempts: [texts.slice(0, 3), texts] }),
      ).toEqual(followed)
    expect(numbersOf(readOf({ after: 1_000_003, joined: 1, attempts: [texts, texts] }))).toEqual(
      numbersOf(followed).slice(2),
    )
  })

  it('are those of its document when none was shown', () => {
    const types = readOf({ attempts: [] }).map(({ type }) => type)
    expect(types).toEqual(['response.output_item.added', 'response.output_item.done', 'response.completed'])
  })
})
