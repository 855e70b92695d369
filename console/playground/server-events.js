import { errorOf, headOf, pathOf } from '../api.js'

/** @typedef {import('./conversation.js').Frame} Frame */

/**
 * The complete frames in a text of server-sent events, and the incomplete rest.
 *
 * @param {string} text
 * @returns {{ frames: readonly Frame[], rest: string }}
 */
export const framesIn = (text) => {
  const blocks = text.split('\n\n')
  const rest = blocks.pop() ?? ''
  return { frames: blocks.flatMap(frameOf), rest }
}

/** @param {string} block @returns {readonly Frame[]} none for a comment */
const frameOf = (block) => {
  const fields = Object.fromEntries(
    block
      .split('\n')
      .filter((row) => !row.startsWith(':'))
      .map((row) => [row.slice(0, row.indexOf(':')), row.slice(row.indexOf(':') + 1).trim()]),
  )
  if (fields.event === undefined || fields.data === undefined) return []
  return [{ event: fields.event, data: JSON.parse(fields.data), id: Number(fields.id ?? 0) }]
}

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
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const { frames, rest } = framesIn(text + part.value)
    text = rest
    if (frames.map(take).includes(true)) return void reader.cancel()
  }
}
