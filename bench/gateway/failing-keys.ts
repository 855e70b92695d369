import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { freePort } from '#scripts/services/service.ts'

/** Keys of the pool that the provider knows. */
export const keysOfPool: readonly string[] = Array.from({ length: 10 }, (_, n) => `key-${n}`)

/** A provider of chats. Four of its ten keys fail at a time, each in its way; `turn` makes another four fail. */
export interface FailingProvider {
  readonly url: string
  turn(): void
  /** Requests that each call, by its message, cost. */
  readonly requests: ReadonlyMap<string, number>
  close(): void
}

const refusing =
  (status: number, headers = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error: { message: 'this key fails', type: 'server_error' } }))
  }

const failures = [
  refusing(429, { 'retry-after': '1' }),
  refusing(500),
  refusing(503),
  (response: ServerResponse) => response.destroy(),
]

const answer = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'mock' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'MOCKOK' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

/** Starts the provider in this process. */
export const startFailingProvider = async (): Promise<FailingProvider> => {
  const requests = new Map<string, number>()
  let phase = 0
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = Object(await json(request)).messages[0].content
    const key = keysOfPool.indexOf(request.headers.authorization?.replace('Bearer ', '') ?? '')
    requests.set(call, (requests.get(call) ?? 0) + 1)
    const fails = failures[(key + 8 * phase) % keysOfPool.length]
    if (fails !== undefined) return void fails(response)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  }
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    ...{ url: `http://127.0.0.1:${port}`, requests },
    turn: () => {
      phase++
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
