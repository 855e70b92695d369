import { TroupeError } from '../errors.ts'
import { backOff, pause } from '../page.ts'

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
  readonly isLast: (data: string) => boolean
  /**
   * What the reader gets instead of a frame that is another one than before, since a crash of the server made void what followed.
   * Null if no frame can take that back: the stream is then requested anew.
   *
   * @param given all frames that the reader has
   */
  readonly restarted: (data: string, given: readonly string[]) => readonly string[] | null
  readonly signal?: AbortSignal | null | undefined
  /** Time in ms between the keep-alives of the server. A stream that misses two is requested again. */
  readonly keepAliveMs?: number | undefined
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
  const first = await replay.send(over.signal, false)
  if (first.status === 204) return null
  const frames = framesOver(first, { ...replay, signal: over.signal })
  return new ReadableStream<T>({
    pull: async (controller) => {
      const { value = null } = await frames.next()
      const chunk = value === null ? null : replay.chunk(value)
      if (chunk !== null) controller.enqueue(chunk)
      else controller.close()
    },
    cancel: () => over.abort(),
  })
}

/** Attempts in a row that bring nothing new, after which a stream is given up. */
const maxTries = 99

/** The data of each frame once, up to the last. */
async function* framesOver<T>(first: Response, replay: Replay<T> & { readonly signal: AbortSignal }) {
  const { signal, isLast, restarted, keepAliveMs = 15_000 } = replay
  const given: string[] = []
  let isAnew = false
  for (let [response, tries] = [first, 0]; tries < maxTries; tries++) {
    let at = 0
    try {
      for await (const data of dataOf(response, 2.2 * keepAliveMs)) {
        const place = at++
        if (given[place] === data) continue
        const fresh = place < given.length ? restarted(data, given) : [data]
        isAnew ||= fresh === null
        if (fresh === null) break
        given.splice(place, given.length, data)
        tries = 0
        for (const each of fresh) {
          yield each
          if (isLast(each)) return
        }
      }
    } catch (cause) {
      if (signal.aborted) throw cause
    }
    await pause(backOff(tries), signal)
    response = await replay.send(signal, isAnew)
    if (response.status === 204) break
  }
  throw new TroupeError('The stream broke, and has ended meanwhile: load the messages of the session.', {
    code: 'connection',
  })
}

/** The data of the frames of a response, until it ends or is silent for too long. */
async function* dataOf({ body }: Response, silenceMs: number) {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const watchdog = setTimeout(() => void reader?.cancel().catch(() => {}), silenceMs)
      const part = await reader?.read().finally(() => clearTimeout(watchdog))
      if (!part?.value) return
      const frames = (rest + decoder.decode(part.value, { stream: true })).split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) if (frame.startsWith(start)) yield frame.slice(start.length)
    }
  } finally {
    reader?.cancel().catch(() => {})
  }
}

/** How a frame with data begins; others are comments, which keep the connection. */
const start = 'data: '
