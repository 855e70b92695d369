import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { chatTransport } from '#client/bridges/ai.ts'
import { replayedStream } from '#client/bridges/replayed-stream.ts'
import { Troupe } from '#client/index.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const encoder = new TextEncoder()

/** A response of these pieces, which breaks then, or stays open. */
const answerOf = (pieces: readonly string[], { isOpen = false, cancel = () => {} } = {}) => {
  const left = [...pieces]
  const pull = (controller: ReadableStreamDefaultController) => {
    const piece = left.shift()
    if (piece !== undefined) controller.enqueue(encoder.encode(piece))
    else if (!isOpen) controller.error(new TypeError('cut'))
  }
  return new Response(new ReadableStream({ pull, cancel }))
}
const framesOf = (...frames: readonly string[]) => answerOf(frames.map((data) => `data: ${data}\n\n`))

const chunksOf = async (stream: ReadableStream<unknown> | null) => {
  const chunks: unknown[] = []
  for await (const chunk of stream ?? []) chunks.push(chunk)
  return chunks
}

/** A request that no answer ends. */
const hangs = (signal: AbortSignal) =>
  new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

type Answer = Response | typeof hangs

/** Reads a stream whose requests get these answers, the last one again and again; counts them, and those made anew. */
const open = (...answers: readonly Answer[]) => {
  const sent = { requests: 0, anew: 0 }
  const send = async (signal: AbortSignal, isAnew: boolean) => {
    sent.anew += Number(isAnew)
    const answer = answers[sent.requests++] ?? answers.at(-1) ?? hangs
    return answer instanceof Response ? answer : answer(signal)
  }
  const ends = { end: 'whole', expired: 'again', void: 'anew' } as const
  const { signal } = new AbortController()
  const stream = replayedStream<string>({
    ...{ send, signal, options: {} },
    chunk: (data) => (data === 'end' ? null : data),
    endOf: (data) => Object.entries(ends).find(([name]) => name === data)?.[1] ?? null,
    restarted: (data) => [data],
  })
  return { sent, signal, read: stream.then(chunksOf) }
}

it('a request, first or again, that is not answered within ten seconds is sent again', async () => {
  const { sent, read } = open(hangs, framesOf('a'), hangs, framesOf('a', 'b', 'end'))
  await vi.advanceTimersByTimeAsync(19_000)
  expect(sent.requests).toBe(3)
  await vi.advanceTimersByTimeAsync(2000)
  expect([await read, sent.requests]).toEqual([['a', 'b'], 4])
})

it('a message with an image is not sent again while it may be on its way at 64 kbit/s', async () => {
  let requests = 0
  const fetch: typeof globalThis.fetch = (_, { signal } = {}) => {
    requests++
    return hangs(signal ?? new AbortController().signal)
  }
  const page = new AbortController()
  const url = `data:image/png;base64,${'A'.repeat(400_000)}`
  const sent = chatTransport(new Troupe({ baseUrl: 'http://test', key: 'csk_test', fetch })).sendMessages({
    ...{ chatId: 'ses_1', trigger: 'submit-message', messageId: undefined, abortSignal: page.signal },
    messages: [{ id: 'm', role: 'user', parts: [{ type: 'file', mediaType: 'image/png', url }] }],
  })
  const ended = expect(sent).rejects.toThrow()
  await vi.advanceTimersByTimeAsync(59_000)
  expect(requests).toBe(1)
  await vi.advanceTimersByTimeAsync(2000)
  expect(requests).toBe(2)
  page.abort()
  await ended
})

it('a stream that is not answered for two minutes is given up', async () => {
  const { sent, read } = open(framesOf('a'), hangs)
  const refused = expect(read).rejects.toMatchObject({ code: 'connection' })
  await vi.advanceTimersByTimeAsync(132_000)
  await refused
  expect(sent.requests).toBeLessThan(15)
})

it('a network that is back wakes a request that hangs and a stream that says nothing', async () => {
  const page = new EventTarget()
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  const silent: Answer = async (signal) => {
    const { body } = answerOf(['data: a\n\n'], { isOpen: true })
    const { readable, writable } = new TransformStream()
    body?.pipeTo(writable, { signal }).catch(() => {})
    return new Response(readable)
  }
  const { sent, read } = open(hangs, silent, framesOf('a', 'end'))
  for (const requests of [1, 2]) {
    await vi.advanceTimersByTimeAsync(1000)
    expect(sent.requests).toBe(requests)
    page.dispatchEvent(new Event('online'))
  }
  await vi.advanceTimersByTimeAsync(1000)
  expect([await read, sent.requests]).toEqual([['a'], 3])
})

it('a stream that ends early is requested again, or anew, and its reader sees nothing of that', async () => {
  const { sent, read } = open(framesOf('a', 'expired', 'end'), framesOf('a', 'b', 'void'), framesOf('a', 'b', 'end'))
  await vi.advanceTimersByTimeAsync(1000)
  expect([await read, sent]).toEqual([['a', 'b'], { requests: 3, anew: 1 }])
})

it('a stream that has ended keeps no connection and no listener of its page', async () => {
  const cancel = vi.fn()
  const { signal, read } = open(answerOf(['data: a\n\ndata: end\n\n'], { isOpen: true, cancel }))
  await vi.advanceTimersByTimeAsync(1000)
  expect(await read).toEqual(['a'])
  expect([cancel.mock.calls.length, getEventListeners(signal, 'abort')]).toEqual([1, []])
})

it('a frame in many pieces takes about as long as as many frames', async () => {
  vi.useRealTimers()
  const timeOf = async (...pieces: readonly string[]) => {
    const since = performance.now()
    await open(answerOf([...pieces, 'data: end\n\n'])).read
    return performance.now() - since
  }
  const kilobyte = 'x'.repeat(1024)
  const many = await timeOf(...Array.from({ length: 2000 }, () => `data: ${kilobyte}\n\n`))
  const long = await timeOf('data: ', ...Array.from({ length: 2000 }, () => kilobyte), '\n\n')
  expect(long / many).toBeLessThan(5)
})

it('a message that is resumed ends with an error where another turn has begun', async () => {
  const start = (turn: number) => `{"type":"start","messageId":"msg_${turn}_assistant"}`
  const answers = [framesOf(start(1), '{"type":"start-step"}'), framesOf(start(2), '[DONE]')]
  const fetch = async () => answers.shift() ?? Response.error()
  const transport = chatTransport(new Troupe({ baseUrl: 'http://test', key: 'test', fetch }))
  const read = transport.reconnectToStream({ chatId: 'ses_1' }).then(chunksOf)
  const refused = expect(read).rejects.toThrow('Another turn')
  await vi.advanceTimersByTimeAsync(1000)
  await refused
})
