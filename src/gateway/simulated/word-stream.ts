import type { ServerResponse } from 'node:http'
import type { AnswerFrames } from './chat-format.ts'

/** Pace and planned fault of one streamed response. */
interface Pace {
  /** Pause between parts in ms; 0 writes everything at once. */
  readonly delayMs: number
  /** Whether there is a pause after each part, however many there are. */
  readonly slow: boolean
  readonly trouble: 'none' | 'cut' | 'malformed'
}

/**
 * Pauses of a response that is not slow on request: a longer one is written several parts at a time, so that an answer of
 * megabytes takes seconds.
 */
const maxPauses = 256

const malformedFrame = 'data: {"choices":[{"index":0,"delta":{"content":"bro\n\n'

/** Options of one streamed response. */
export interface StreamOptions extends Pace {
  /**
   * Called once when the response has closed; `whole` is whether the client received everything that was meant to be
   * sent.
   */
  readonly onEnd: (whole: boolean) => void
}

/** Writes the frames at the given pace. */
export function streamFrames(response: ServerResponse, frames: AnswerFrames, { onEnd, ...pace }: StreamOptions): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  const parts = pace.trouble === 'none' ? frames.parts : frames.parts.slice(0, Math.ceil(frames.parts.length / 2))
  if (pace.delayMs === 0) {
    response.once('close', () => onEnd(response.writableFinished || pace.trouble === 'cut'))
    finish(response, { rest: frames.first + parts.join(''), last: frames.last }, pace)
    return
  }
  const atOnce = pace.slow ? 1 : Math.ceil(parts.length / maxPauses)
  let next = 0
  const timer = setInterval(() => {
    if (next < parts.length) {
      response.write(parts.slice(next, next + atOnce).join(''))
      next += atOnce
      return
    }
    next = parts.length + 1
    clearInterval(timer)
    finish(response, { rest: '', last: frames.last }, pace)
  }, pace.delayMs)
  response.once('close', () => {
    clearInterval(timer)
    onEnd(response.writableFinished || (pace.trouble === 'cut' && next > parts.length))
  })
  response.write(frames.first)
}

function finish(
  response: ServerResponse,
  { rest, last }: { readonly rest: string; readonly last: string },
  pace: Pace,
): void {
  if (pace.trouble === 'none') response.end(rest + last)
  else if (pace.trouble === 'malformed') response.end(rest + malformedFrame + last)
  else response.write(rest === '' ? ': cut\n\n' : rest, () => response.destroy())
}
