import { TroupeError } from '../errors.ts'
import { backOff, onChange, pause } from '../page.ts'
import type { TroupeOptions } from '../troupe.ts'

/** How a stream ends with a frame: whole, or early, so that it is requested `again`, or `anew` if the reader lost its place. */
export type StreamEnd = 'whole' | 'again' | 'anew'

/** A stream of another product's protocol, which the server gives from its start each time that it is requested. */
export interface Replay<T> {
  /**
   * Sends the request: each time the same one, so that the server carries it out once.
   *
   * @param isAnew whether the reader lost its place (`restarted`), so that the answer has to replace what it shows
   */
  readonly send: (signal: AbortSignal, isAnew: boolean) => Promise<Response>
  /** Turns the data of a frame into what the reader gets; null for a frame that is only the end. */
  readonly chunk: (data: string) => T | null
  /** How the stream ends with this frame; null if it goes on. The reader gets no frame of an early end. */
  readonly endOf: (data: string) => StreamEnd | null
  /**
   * What the reader gets instead of a frame that is another one than before, since a crash of the server made void what followed.
   * Null if no frame can take that back: the stream is then requested anew.
   *
   * @param given all frames that the reader has
   * @throws {TroupeError} if the stream is now another one
   */
  readonly restarted: (data: string, given: readonly string[]) => readonly string[] | null
  readonly signal?: AbortSignal | null | undefined
  /** Length of the request, whose upload has a time of its own: a second for 64 kbit. */
  readonly length?: number
  /** Options of the client: a stream that misses two keep-alives is requested again, for as long as requests are repeated. */
  readonly options: Pick<TroupeOptions, 'keepAliveMs' | 'retryForMs'>
}

/**
 * Reads a stream to its last frame over whatever breaks: it is requested again, and what the reader has is left out.
 *
 * @returns null if there is nothing to read
 * @throws {TroupeError} (rejects) if the server refuses, as the stream does later
 */
export const replayedStream = async <T>(replay: Replay<T>): Promise<ReadableStream<T> | null> => {
  const over = new AbortController()
  const { signal } = replay
  signal?.addEventListener('abort', () => over.abort(signal.reason), over)
  if (signal?.aborted) over.abort(signal.reason)
  const chunks = chunksOver(replay, over)
  const first = await chunks.next()
  if (first.done) return null
  return new ReadableStream<T>({
    start: (controller) => controller.enqueue(first.value),
    pull: async (controller) => {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => {
      over.abort()
      await chunks.return()
    },
  })
}

/** Attempts in a row that bring nothing new, after which a stream is given up. */
const maxTries = 99

/** Time in ms in which a stream has to begin. */
const openingMs = 10_000

/** What the reader gets, each piece once, up to the last. Aborts `over` at its end. */
async function* chunksOver<T>(replay: Replay<T>, over: AbortController): AsyncGenerator<T, void, void> {
  const { chunk, endOf, restarted, options } = replay
  const given: string[] = []
  let [isAnew, heardAt] = [false, Date.now()]
  try {
    for (let tries = 0; tries < maxTries && Date.now() - heardAt < (options.retryForMs ?? 120_000); ) {
      await pause(backOff(tries++), over.signal)
      over.signal.throwIfAborted()
      let at = 0
      for await (const data of dataOf(replay, isAnew, over.signal)) {
        if (data === null && given.length === 0) return
        if (data === null) throw broken()
        const place = at++
        if (given[place] === data) continue
        const end = endOf(data)
        if (end === 'again') break
        const known = place < given.length ? restarted(data, given) : [data]
        const fresh = end === 'anew' ? null : known
        isAnew ||= fresh === null
        if (fresh === null) break
        given.splice(place, given.length, data)
        tries = 0
        for (const each of fresh) {
          const made = chunk(each)
          if (made !== null) yield made
        }
        if (end === 'whole') return
      }
      if (at > 0) heardAt = Date.now()
    }
    throw broken()
  } finally {
    over.abort()
  }
}

const broken = (): TroupeError =>
  new TroupeError('The stream broke, and has ended meanwhile: load the messages of the session.', {
    code: 'connection',
  })

/** The data of the frames of one answer, until it breaks, hangs, or the network changes. Null: there is nothing to read. */
async function* dataOf<T>({ send, options, length = 0 }: Replay<T>, isAnew: boolean, signal: AbortSignal) {
  const link = new AbortController()
  const end = () => link.abort(signal.reason)
  signal.addEventListener('abort', end, link)
  // a connection may have died with the network that it was on
  onChange(['online', 'offline'], end, link.signal)
  const opening = setTimeout(end, openingMs + length / 8)
  try {
    const response = await send(link.signal, isAnew).finally(() => clearTimeout(opening))
    if (response.status === 204) yield null
    else yield* framesIn(response, 2.2 * (options.keepAliveMs ?? 15_000))
  } catch (cause) {
    if (signal.aborted || cause instanceof TroupeError) throw cause
  } finally {
    end()
  }
}

/** The data of the frames of a response, until it ends or is silent for too long. */
async function* framesIn({ body }: Response, silenceMs: number) {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const watchdog = setTimeout(() => void reader?.cancel().catch(() => {}), silenceMs)
      const part = await reader?.read().finally(() => clearTimeout(watchdog))
      if (!part?.value) return
      const piece = decoder.decode(part.value, { stream: true })
      rest += piece
      // no frame ends here, so a long one that comes in many pieces is not searched in each of them
      if (!piece.includes('\n')) continue
      const frames = rest.split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) if (frame.startsWith(start)) yield frame.slice(start.length)
    }
  } finally {
    reader?.cancel().catch(() => {})
  }
}

/** How a frame with data begins; others are comments, which keep the connection. */
const start = 'data: '
