import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that the provider received. `closed` resolves when the connection of its answer is closed. */
interface Heard {
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
  readonly closed: Promise<void>
}

export type Script = (response: ServerResponse, heard: Heard) => void

/** A provider that answers the n-th request with the n-th script; the last script stays. */
export interface AudioUpstream {
  readonly url: string
  readonly heard: Heard[]
  script(...scripts: Script[]): void
  close(): Promise<void>
}

export const openAudioUpstream = async (): Promise<AudioUpstream> => {
  let scripts: Script[] = []
  const heard: Heard[] = []
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const closed = new Promise<void>((resolve) => response.once('close', () => resolve()))
      const one = { path: request.url ?? '', headers: request.headers, body, closed }
      heard.push(one)
      const script = scripts.length > 1 ? scripts.shift() : scripts[0]
      script?.(response, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    heard,
    script(...next) {
      scripts = next
      heard.length = 0
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Sends bytes of a type at once. */
export const sends =
  (bytes: string | Buffer, type = 'application/octet-stream'): Script =>
  (response) => {
    response.writeHead(200, { 'content-type': type }).end(bytes)
  }

/** Sends a JSON document. */
export const answers = (document: unknown): Script => sends(JSON.stringify(document), 'application/json')

/** Sends bytes in pieces, each in a separate chunk. */
export const trickles =
  (pieces: readonly (string | Buffer)[], type = 'application/octet-stream'): Script =>
  (response) => {
    response.writeHead(200, { 'content-type': type })
    const next = (at: number): void => {
      if (at === pieces.length) response.end()
      else response.write(pieces[at], () => setTimeout(next, 5, at + 1))
    }
    next(0)
  }

/** Sends a beginning and then destroys the connection. */
export const cuts =
  (bytes: string | Buffer): Script =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    response.write(bytes, () => setImmediate(() => response.destroy()))
  }

/** Sends an optional beginning and keeps the connection open without further data. */
export const stalls =
  (bytes?: string | Buffer): Script =>
  (response) => {
    if (bytes === undefined) return
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    response.write(bytes)
  }

/** Sends single bytes without an end. */
export const drips: Script = (response) => {
  response.writeHead(200, { 'content-type': 'application/octet-stream' })
  const timer = setInterval(() => response.write('.'), 5)
  response.once('close', () => clearInterval(timer))
}

/** Refuses with a status. */
export const refuses =
  (status: number, document: unknown = { error: { message: 'no' } }, headers: Record<string, string> = {}): Script =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(document))
  }

/** Closes the connection without an answer. */
export const hangsUp: Script = (response) => {
  response.destroy()
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts)
}

function portOf(address: string | AddressInfo | null): number {
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
