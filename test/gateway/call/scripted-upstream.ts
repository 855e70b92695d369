import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that the scripted provider received. `closed` resolves when the connection of its answer is closed. */
interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Record<string, unknown>
  readonly closed: Promise<number>
}

export type Answer = (response: ServerResponse, received: Received) => void

/** A server that answers the n-th request with the n-th script; the last script stays. */
export interface Upstream {
  readonly url: string
  readonly received: Received[]
  script(...answers: Answer[]): void
  close(): Promise<void>
}

export async function openUpstream(): Promise<Upstream> {
  let answers: Answer[] = []
  const received: Received[] = []
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const closed = new Promise<number>((resolve) => response.once('close', () => resolve(performance.now())))
      const one = { path: request.url ?? '', headers: request.headers, body, closed }
      received.push(one)
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      answer?.(response, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = portOf(server.address())
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    script(...next) {
      answers = next
      received.length = 0
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Sends a complete event stream at once. */
export const whole =
  (text: string): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
  }

/** Sends a beginning and keeps the connection open without further data. */
export const stalled =
  (text: string): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    if (text !== '') response.write(text)
  }

/** Sends a stream in this number of pieces, one every `everyMs`. */
export const trickled =
  (text: string, pieces: number, everyMs: number): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const bytes = Buffer.from(text)
    const size = Math.ceil(bytes.length / pieces)
    let at = 0
    const timer = setInterval(() => {
      response.write(bytes.subarray(at, at + size))
      at += size
      if (at < bytes.length) return
      clearInterval(timer)
      response.end()
    }, everyMs)
  }

/** Sends a beginning and then repeats `piece` every 5 ms without an end. */
export const endless =
  (text: string, piece: string, type = 'text/event-stream'): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': type })
    response.write(text)
    const timer = setInterval(() => response.write(piece), 5)
    response.once('close', () => clearInterval(timer))
  }

/** Sends a beginning and then destroys the connection. */
export const cut =
  (text: string): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(text, () => setImmediate(() => response.destroy()))
  }

/** Refuses with a status and a JSON error. */
export const refusal =
  (status: number, error: object, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ error }))
  }

/** Closes the connection without an answer. */
export const hangUp: Answer = (response) => {
  response.destroy()
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  const text = Buffer.concat(parts).toString('utf8')
  if (request.headers['content-type']?.startsWith('multipart/') === true) return { form: text }
  return text === '' ? {} : JSON.parse(text)
}

function portOf(address: string | AddressInfo | null): number {
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
