import { errorOf, headOf, pathOf } from '../api.js'
import { EventSourceParserStream } from '../vendor/eventsource-parser.js'

/** @typedef {import('./conversation.js').Frame} Frame */

/**
 * Sends a turn, or follows a session after a sequence, and passes frames to `take` until the stream ends or `take`
 * returns true.
 *
 * @param {object} call
 * @param {string} call.project
 * @param {string} call.session
 * @param {object | null} call.turn null: only follow
 * @param {number} call.after
 * @param {(frame: Frame) => boolean} call.take returns true for the last frame needed
 * @param {AbortSignal} call.signal
 * @throws {import('../api.js').ApiError} when the server refuses
 */
export const streamTurn = async ({ project, session, turn, after, take, signal }) => {
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
 * @param {{ path: string, head: ReturnType<typeof headOf>, take: (frame: Frame) => boolean, signal: AbortSignal }} call
 * @throws {import('../api.js').ApiError} when the server refuses
 */
export const streamFrames = async ({ path, head, take, signal }) => {
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
