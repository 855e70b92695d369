import { errorOf, headOf, pathOf } from '../api.ts'
import { EventSourceParserStream } from '../vendor/eventsource-parser.js'
import type { Frame } from './conversation.ts'

/**
 * Sends a turn, or follows a session after a sequence, and passes frames to `take` until the stream ends or `take`
 * returns true.
 *
 * @throws {ApiError} when the server refuses
 */
export const streamTurn = async ({
  project,
  session,
  turn,
  after,
  take,
  signal,
}: {
  project: string
  session: string
  /** null: only follow */
  turn: object | null
  after: number
  /** returns true for the last frame needed */
  take: (frame: Frame) => boolean
  signal: AbortSignal
}) => {
  const params = { session_id: session }
  const [path, head] =
    turn === null
      ? [
          pathOf(project, 'sessions.stream', { params, query: { after, restarts: true } }),
          headOf(project, 'sessions.stream', undefined),
        ]
      : [
          pathOf(project, 'sessions.turns', { params, query: { restarts: true } }),
          headOf(project, 'sessions.turns', turn),
        ]
  await streamFrames({ path, head, take, signal })
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
}: {
  path: string
  head: ReturnType<typeof headOf>
  take: (frame: Frame) => boolean
  signal: AbortSignal
}) => {
  const headers = { ...head.headers, accept: 'text/event-stream' }
  const response = await fetch(path, { ...head, headers, credentials: 'same-origin', signal })
  if (!response.ok || response.body === null) throw errorOf(response.status, await response.json().catch(() => null))
  const frames = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  const reader = frames.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const { event, data, id } = part.value
    if (event !== undefined && take({ event, data: JSON.parse(data), id: Number(id ?? 0) })) return void reader.cancel()
  }
}
