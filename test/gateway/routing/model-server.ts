import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request that reached the server. */
interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** The behaviour of the server for a request. */
export type Behaviour = (response: ServerResponse, received: ReceivedRequest) => void

/** A model provider on loopback with scripted behaviour. */
export interface ModelServer {
  readonly url: string
  /** `host:port`. */
  readonly host: string
  readonly received: ReceivedRequest[]
  does(behaviour: Behaviour): void
  close(): Promise<void>
}

export const openModelServer = async (first: Behaviour = () => {}): Promise<ModelServer> => {
  const received: ReceivedRequest[] = []
  let behaviour = first
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts).toString()
      const one = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body }
      received.push(one)
      behaviour(response, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: AddressInfo = Object(server.address())
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    received,
    does(next) {
      behaviour = next
      received.length = 0
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Answers a JSON document. */
export const json =
  (document: unknown, status = 200): Behaviour =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  }

/** Answers a text. */
export const text =
  (body: string, status = 200): Behaviour =>
  (response) => {
    response.writeHead(status, { 'content-type': 'text/html' }).end(body)
  }

/** Redirects to another location. */
export const redirect =
  (location: string): Behaviour =>
  (response) => {
    response.writeHead(307, { location }).end()
  }

/** Begins an answer and destroys the connection. */
export const broken: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"data":[', () => response.destroy())
}

/** Accepts the request and never answers. */
export const silent: Behaviour = () => {}

/** A list of models in the format of OpenAI. */
export const modelList = (...models: readonly (string | object)[]): Behaviour =>
  json({ object: 'list', data: models.map((model) => (typeof model === 'string' ? { id: model } : model)) })
