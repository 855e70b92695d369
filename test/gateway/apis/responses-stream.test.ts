import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '#specs/errors/errors.ts'
import { framesIn } from './form-server.ts'
import { responsesWorld } from './responses-world.ts'
import { calling, type Script, saying } from './scripted-chat.ts'

const request = { model: 'model-1', input: 'hi' }

const eventsOf = async (...scripts: readonly Script[]) => {
  const { openai } = await responsesWorld(scripts)
  const events: ResponseStreamEvent[] = []
  for await (const event of await openai.responses.create({ ...request, stream: true })) events.push(event)
  return events
}

const typesOf = (events: readonly ResponseStreamEvent[]) => events.map(({ type }) => type)

describe('the events of a streamed response', () => {
  it('describe a text in the documented order, numbered from 0', async () => {
    const events = await eventsOf({ deltas: saying('Hello', ' there.') })
    expect(typesOf(events)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at))
    const [created, , added, part, delta, , done, partDone, itemDone, completed] = events
    const item_id = expect.stringMatching(/^msg_/)
    const at = { item_id, output_index: 0, content_index: 0 }
    expect(created).toMatchObject({ response: { status: 'in_progress', output: [], usage: null, model: 'model-1' } })
    expect(added).toMatchObject({ output_index: 0, item: { id: item_id, status: 'in_progress', content: [] } })
    expect(part).toMatchObject({ ...at, part: { type: 'output_text', text: '', annotations: [] } })
    expect(delta).toMatchObject({ ...at, delta: 'Hello', logprobs: [] })
    expect(done).toMatchObject({ ...at, text: 'Hello there.' })
    expect(partDone).toMatchObject({ ...at, part: { type: 'output_text', text: 'Hello there.' } })
    expect(itemDone).toMatchObject({ output_index: 0, item: { status: 'completed' } })
    expect(completed).toMatchObject({
      response: { status: 'completed', model: 'model-1-2026', usage: { total_tokens: 12 }, output: [{ id: item_id }] },
    })
  })

  it('keep several calls apart whose parts have no index', async () => {
    const begun = (id: string) => ({ tool_calls: [{ id, function: { name: 'look_up', arguments: '{"q":' } }] })
    const more = (text: string) => ({ tool_calls: [{ function: { arguments: text } }] })
    const deltas = [begun('call_1'), more('1}'), begun('call_2'), more('2}')]
    const last = (await eventsOf({ deltas, finishReason: 'tool_calls' })).at(-1)
    expect(last).toMatchObject({
      response: {
        output: [
          { call_id: 'call_1', arguments: '{"q":1}' },
          { call_id: 'call_2', arguments: '{"q":2}' },
        ],
      },
    })
  })

  it('describe tool calls, including calls with interleaved arguments', async () => {
    const piece = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] })
    const deltas = [
      ...saying('Let me see.'),
      ...calling(0, 'call_1', 'a', '{"x":'),
      ...calling(1, 'call_2', 'b', '{'),
      piece(0, '1}'),
      piece(1, '}'),
    ]
    const events = await eventsOf({ deltas, finishReason: 'tool_calls' })
    expect(typesOf(events).slice(2, -1)).toEqual([
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.function_call_arguments.done',
      'response.output_item.done',
    ])
    expect(events.filter(({ type }) => type === 'response.function_call_arguments.done')).toMatchObject([
      { output_index: 1, name: 'a', arguments: '{"x":1}' },
      { output_index: 2, name: 'b', arguments: '{}' },
    ])
  })

  it('describe reasoning and refusals', async () => {
    const events = await eventsOf({
      deltas: [{ reasoning_content: 'Hmm.' }, { refusal: 'I will' }, { refusal: ' not.' }],
    })
    expect(typesOf(events).slice(2, -1)).toEqual([
      'response.output_item.added',
      'response.content_part.added',
      'response.reasoning_text.delta',
      'response.reasoning_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.refusal.delta',
      'response.refusal.delta',
      'response.refusal.done',
      'response.content_part.done',
      'response.output_item.done',
    ])
  })

  it('end with response.incomplete and the reason when the answer was cut off', async () => {
    const events = await eventsOf({ deltas: saying('Hel'), finishReason: 'length' })
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output: [{ status: 'incomplete' }],
      },
    })
  })

  it('end with response.failed when the answer breaks', async () => {
    const error = new ServiceError('provider_stream_broken')
    const { openai } = await responsesWorld([{ deltas: saying('Hel'), error }])
    const events: ResponseStreamEvent[] = []
    const read = async () => {
      for await (const event of await openai.responses.create({ ...request, stream: true })) events.push(event)
    }
    await expect(read()).rejects.toThrow(error.message)
    expect(typesOf(events).slice(-2)).toEqual(['response.output_item.done', 'response.failed'])
    expect(events.at(-1)).toMatchObject({
      response: { status: 'failed', error: { code: 'server_error' }, output: [{ status: 'incomplete' }] },
    })
  })

  it('have their name before their data, and no end mark', async () => {
    const { send } = await responsesWorld([{ deltas: saying('x') }])
    const { text, headers } = await send('/v1/responses', { ...request, stream: true })
    expect(headers['content-type']).toContain('text/event-stream')
    expect(headers['x-provider']).toBe('simulated')
    for (const frame of text.split('\n\n').slice(0, -1)) expect(frame).toMatch(/^event: ([\w.]+)\ndata: \{"type":"\1",/)
    expect(framesIn(text).at(-1).type).toBe('response.completed')
  })
})

describe('the stream helper of the SDK', () => {
  it.each([
    ['a text', { deltas: saying('Hello', ' there.') }],
    ['reasoning and a text', { deltas: [{ reasoning_content: 'Hmm.' }, ...saying('Yes.')] }],
    ['a refusal after a text', { deltas: [...saying('Well.'), { refusal: 'No.' }] }],
    [
      'calls after a text',
      { deltas: [...saying('So.'), ...calling(0, 'call_1', 'a', '{', '}')], finishReason: 'tool_calls' },
    ],
    ['nothing', { deltas: [] }],
  ])('returns the same response as without streaming, for %s', async (_, script) => {
    const { openai } = await responsesWorld([script])
    const streamed = await openai.responses.stream(request).finalResponse()
    const whole = await openai.responses.create(request)
    const plain = (value: object) => JSON.parse(JSON.stringify(value).replaceAll(/"(resp|msg|fc|rs)_\w+"/g, '"$1"'))
    const { output_parsed: _parsed, ...rest } = plain(streamed)
    expect({ ...rest, output: withoutParsed(rest.output) }).toEqual(plain(whole))
  })

  it('accepts a text after a call', async () => {
    const deltas = [...calling(0, 'call_1', 'a', '{}'), ...saying('So.')]
    const { openai } = await responsesWorld([{ deltas, finishReason: 'tool_calls' }])
    const { output } = await openai.responses.stream(request).finalResponse()
    expect(output).toMatchObject([{ type: 'function_call' }, { type: 'message' }])
  })

  it('gets a response that is stored', async () => {
    const { openai } = await responsesWorld([{ deltas: saying('One.') }])
    const { id } = await openai.responses.stream(request).finalResponse()
    expect(await openai.responses.retrieve(id)).toMatchObject({ id, output_text: 'One.', status: 'completed' })
  })
})

/** Removes the fields that the helper adds to items. */
const withoutParsed = (output: readonly Record<string, unknown>[]): unknown =>
  JSON.parse(
    JSON.stringify(output, (key, value: unknown) =>
      key === 'parsed' || key === 'parsed_arguments' ? undefined : value,
    ),
  )
