import { errorIn, headOf, pathOf } from '../api.ts'
import { EventSourceParserStream } from '../vendor/eventsource-parser.js'
import type { Frame } from './conversation.ts'

/** `take`: returns true for the last frame needed */
type Stream = Readonly<{ take: (frame: Frame) => boolean; signal: AbortSignal }>

/** `turn`: null for following only */
type Sent = Stream & Readonly<{ project: string; session: string; turn: object | null; after: number }>

/**
 * Sends a turn, or follows a session after a sequence, and passes frames to `take` until the stream ends or `take`
 * returns true.
 *
 * @throws {ApiError} when the server refuses
 */
export const streamTurn = (sent: Sent) => {
  const { project, session, turn, after, ...stream } = sent
  const params = { session_id: session }
  return turn === null
    ? streamFrames({
        ...{ ...stream, head: headOf(project, 'sessions.stream', undefined) },
        path: pathOf(project, 'sessions.stream', { params, query: { after, restarts: true } }),
      })
    : streamFrames({
        ...{ ...stream, head: headOf(project, 'sessions.turns', turn) },
        path: pathOf(project, 'sessions.turns', { params, query: { restarts: true } }),
      })
}

/**
 * Sends a request whose answer is a stream, and passes its frames to `take` until it ends or `take` returns true.
 *
 * @throws {ApiError} when the server refuses
 */
export const streamFrames = async ({
  path,
  head,
  take,
  signal,
}: Stream & { path: string; head: Made<typeof headOf> }) => {
  const headers = { ...head.headers, accept: 'text/event-stream' }
  const response = await fetch(path, { ...head, headers, credentials: 'same-origin', signal })
  if (!response.ok || response.body === null) throw await errorIn(response)
  const frames = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  const reader = frames.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const { event, data, id } = part.value
    if (event !== undefined && take({ event, data: JSON.parse(data), id: Number(id ?? 0) })) return void reader.cancel()
  }
}
