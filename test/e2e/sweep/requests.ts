import type { Operation } from '#specs/dsl/declare.ts'
import type { Api } from '../api.ts'

/** An answer of any kind; of an endless stream its first part. */
export interface Seen {
  readonly status: number
  /** The error code. */
  readonly code: string | null
  readonly text: string
}

/** A request of an operation. */
export interface Sent {
  readonly path: string
  readonly body?: unknown
  readonly headers: Readonly<Record<string, string>>
}

/** The path of an operation with these parameters. */
export const pathOf = ({ paths }: Operation, idFor: (name: string) => string): string =>
  paths[0].replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(idFor(name)))

/** How long a stream that stays open is read, from when it begins. */
const streamMs = 500

/** Sends a request and reads all of its answer. */
export const seen = async (api: Api, operation: Operation, { path, body, headers }: Sent): Promise<Seen> => {
  const response = await api.send(path, body, { method: operation.method, headers })
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true
  if (isStream) AbortSignal.timeout(streamMs).addEventListener('abort', () => response.destroy())
  let text = ''
  try {
    // what has arrived of a stream when it was read for long enough
    for await (const part of response) text += String(part)
  } catch (error) {
    if (!isStream || !response.destroyed) throw error
  }
  const { statusCode: status = 0 } = response
  return { status, code: codeIn(text), text }
}

const codeIn = (text: string): string | null => {
  if (!text.startsWith('{')) return null
  const { error } = JSON.parse(text)
  return typeof error === 'object' && error !== null ? error.code : (error ?? null)
}

/**
 * Sends frames over a socket, and a last one that is refused for its type.
 *
 * @returns the messages received until that refusal; null when the socket does not open.
 */
export const framesOver = (api: Api, path: string, frames: readonly object[]): Promise<readonly string[] | null> =>
  new Promise((resolve) => {
    const socket = api.socket(path)
    const received: string[] = []
    socket.onerror = () => resolve(null)
    socket.onclose = () => resolve(received)
    socket.onopen = () => {
      for (const frame of frames) socket.send(JSON.stringify(frame))
      socket.send('{"type":"the_last"}')
    }
    socket.onmessage = ({ data }) => {
      received.push(String(data))
      if (received.filter((each) => each.includes('"error"')).length > frames.length) socket.close()
    }
  })
