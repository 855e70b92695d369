import OpenAI, { BadRequestError, NotFoundError } from 'openai'
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { openUpstream, type Upstream, whole } from '#test/gateway/call/scripted-upstream.ts'
import { delta, framesOf, goodAnswer, goodStream, json } from '#test/gateway/chat/chat-world.ts'
import { patience } from '../patience.ts'
import { either, type StoreName, World } from '../world.ts'

describe.each(either('mongo'))('a response in the background on $store', ({ store }: { readonly store: StoreName }) => {
  let upstream: Upstream
  let world: World
  let client: OpenAI
  let release: () => void = () => {}

  const connect = () => {
    client = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
  }

  beforeAll(async () => {
    upstream = await openUpstream()
    world = await World.start({ store, env: { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url } })
    connect()
  }, 120_000)
  afterEach(() => release())
  afterAll(async () => {
    await world.stop()
    await upstream.close()
  })

  const model = 'gpt-4o-mini'
  const answers = whole(goodStream)

  /** A model that answers when `release` is called. */
  const held: Parameters<Upstream['script']>[0] = (response, ...rest) => {
    release = () => {
      release = () => {}
      answers(response, ...rest)
    }
  }

  const begin = (input = 'Hi'): Promise<Response> => client.responses.create({ model, input, background: true })
  const ended = (id: string): Promise<Response> =>
    vi.waitFor(async () => {
      const response = await client.responses.retrieve(id)
      expect(['completed', 'failed', 'cancelled']).toContain(response.status)
      return response
    }, patience)
  const eventsOf = async (id: string, starting_after?: number): Promise<readonly ResponseStreamEvent[]> => {
    const events = []
    const from = starting_after === undefined ? {} : { starting_after }
    for await (const event of await client.responses.retrieve(id, { stream: true, ...from })) events.push(event)
    return events
  }
  /** The events of a response in progress up to its first delta. */
  const resumed = async (id: string): Promise<readonly ResponseStreamEvent[]> => {
    const events = []
    for await (const event of await client.responses.retrieve(id, { stream: true })) {
      events.push(event)
      if (event.type === 'response.output_text.delta') break
    }
    return events
  }
  const calling = () => vi.waitFor(() => expect(upstream.received).toHaveLength(1), patience)

  it('is queued, in progress and then completed when polled, and a later response continues from it', async () => {
    upstream.script(held)
    const queued = await begin()
    expect(queued).toMatchObject({ status: 'queued', background: true, output: [], model })
    await calling()
    expect((await client.responses.retrieve(queued.id)).status).toBe('in_progress')
    release()
    const done = await ended(queued.id)
    expect(done).toMatchObject({ status: 'completed', background: true, created_at: queued.created_at })
    expect(done.output[0]).toMatchObject({ type: 'message', role: 'assistant' })
    expect(done.usage?.total_tokens).toBeGreaterThan(0)
    expect((await client.responses.inputItems.list(queued.id)).data).toHaveLength(1)
    upstream.script(json(goodAnswer))
    const next = await client.responses.create({ model, input: 'And?', previous_response_id: queued.id })
    expect(next.previous_response_id).toBe(queued.id)
  })

  it('is completed after the process that began it was killed', async () => {
    upstream.script(held, answers)
    const { id } = await begin('Kill me.')
    await calling()
    await world.crash()
    await world.restart()
    connect()
    expect(await ended(id)).toMatchObject({ status: 'completed' })
  })

  it('has one numbering of its events before and after kill -9, so that a reader resumes without a double', async () => {
    upstream.script(held, answers)
    const stream = await client.responses.create({ model, input: 'Kill me.', background: true, stream: true })
    const before: ResponseStreamEvent[] = []
    for await (const event of stream) {
      before.push(event)
      if (event.type === 'response.in_progress') break
    }
    const [created] = before
    const id = created?.type === 'response.created' ? created.response.id : ''
    await calling()
    await world.crash()
    await world.restart()
    connect()
    const last = before.at(-1)?.sequence_number ?? -1
    const after = await eventsOf(id, last)
    expect(after.at(-1)).toMatchObject({ type: 'response.completed', response: { id, status: 'completed' } })
    // those of an attempt that a crash has cut are never used again
    expect(before.map(({ sequence_number }) => sequence_number)).toEqual([0, 1])
    expect(after.map(({ sequence_number }) => sequence_number)).toEqual(after.map((_, at) => 1_000_002 + at))
    expect(await eventsOf(id, last)).toEqual(after)
    // the model that answered has another name than the requested one
    expect(await eventsOf(id)).toEqual([...before, ...after])
  })

  it('shows its text while it is made, to readers that joined at any time, and the same after its end', async () => {
    let more: (text: string) => void = () => {}
    upstream.script((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      more = (text) => response.write(framesOf(delta({ role: 'assistant', content: text })))
      release = () => {
        release = () => {}
        response.end(goodStream)
      }
    })
    const { id } = await begin()
    await calling()
    const texts: string[][] = [[], []]
    const read = async (at: number) => {
      const events: ResponseStreamEvent[] = []
      for await (const event of await client.responses.retrieve(id, { stream: true })) {
        events.push(event)
        if (event.type === 'response.output_text.delta') texts[at]?.push(event.delta)
      }
      return events
    }
    const first = read(0)
    more('One, ')
    await vi.waitFor(() => expect(texts[0]).toEqual(['One, ']), patience)
    const second = read(1)
    await vi.waitFor(() => expect(texts[1]).toEqual(['One, ']), patience)
    more('two, ')
    await vi.waitFor(
      () =>
        expect(texts).toEqual([
          ['One, ', 'two, '],
          ['One, ', 'two, '],
        ]),
      patience,
    )
    const [, , , , seen] = await resumed(id)
    release()
    const events = await first
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { id, status: 'completed' } })
    expect(texts[0]?.join('')).toBe((await client.responses.retrieve(id)).output_text)
    expect(await second).toEqual(events)
    expect(await eventsOf(id)).toEqual(events)
    expect(await eventsOf(id, seen?.sequence_number)).toEqual(events.slice(5))
  })

  it('is cancelled, and stays cancelled', async () => {
    upstream.script(held)
    const { id } = await begin()
    await calling()
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' })
    expect(await client.responses.cancel(id)).toMatchObject({ status: 'cancelled' })
    expect((await client.responses.retrieve(id)).status).toBe('cancelled')
  })

  it('has an error code when it failed', async () => {
    upstream.script((response) => response.writeHead(400).end('{"error":{"message":"No such thing."}}'))
    const { id } = await begin()
    expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: expect.any(String) }, output: [] })
  })

  it('is streamed, and a reader that reconnects resumes after a given event', async () => {
    upstream.script(held)
    const stream = await client.responses.create({ model, input: 'Hi', background: true, stream: true })
    const seen: string[] = []
    let id = ''
    for await (const event of stream) {
      seen.push(`${event.sequence_number} ${event.type}`)
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.in_progress') break
    }
    expect(seen).toEqual(['0 response.created', '1 response.in_progress'])
    await calling()
    const rest = await client.responses.retrieve(id, { stream: true, starting_after: 1 })
    release()
    const events = []
    for await (const event of rest) events.push(event)
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at + 2))
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { id, status: 'completed' } })
    expect(events.map(({ type }) => type)).toContain('response.output_text.delta')
  })

  it('can be deleted while in progress, and is not found afterwards', async () => {
    upstream.script(held)
    const { id } = await begin()
    await calling()
    await client.responses.delete(id)
    await expect(client.responses.retrieve(id)).rejects.toThrow(NotFoundError)
  })

  it('requires store and refuses memory, and only background responses can be cancelled', async () => {
    const create = (more: object) => client.responses.create({ model, input: 'Hi', background: true, ...more })
    await expect(create({ store: false })).rejects.toThrow(/retrieved later/)
    await expect(create({ memory: { userId: 'ada' } })).rejects.toThrow(/cannot use memory/)
    upstream.script(json(goodAnswer))
    const { id } = await client.responses.create({ model, input: 'Hi' })
    await expect(client.responses.cancel(id)).rejects.toThrow(BadRequestError)
  })
})
