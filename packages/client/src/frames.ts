import type { SessionEvent } from './events.ts'
import { asFields } from './schema.ts'

/**
 * Reads the server-sent events of a response until it ends, or `take` returns false. `take` gets what each piece of it
 * completes, which may be nothing.
 */
export const readFrames = async (
  { body }: Response,
  take: (events: readonly SessionEvent[]) => boolean,
): Promise<void> => {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  const push = framesIn()
  try {
    for (;;) {
      const part = await reader?.read()
      if (!part?.value || !take(push(decoder.decode(part.value, { stream: true })))) break
    }
  } finally {
    // also of one that broke
    reader?.cancel().catch(() => {})
  }
}

/** Returns a reader of events from pieces of text that may be cut anywhere; only whole frames count. */
export const framesIn = (): ((piece: string) => readonly SessionEvent[]) => {
  let rest = ''
  return (piece) => {
    rest += piece
    // no frame ends here, so a long one that comes in many pieces is not searched in each of them
    if (!piece.includes('\n')) return []
    const frames = rest.split('\n\n')
    rest = frames.pop() ?? ''
    return frames.flatMap(parsed)
  }
}

/** The event of one frame, whose name and data agree because one server wrote both; none for a comment. */
const parsed = (frame: string): readonly SessionEvent[] => {
  // fields by their first letter: data, event, id, or none of them
  const fields: Record<string, string> = {}
  for (const line of frame.split('\n')) fields[line[0] ?? ''] = line.slice(line.indexOf(' ') + 1)
  const { d, e, i = 0 } = fields
  return d ? [asFields<SessionEvent>({ event: e, id: +i, data: JSON.parse(d) })] : []
}
