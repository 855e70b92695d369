import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isObject } from '#runtime/schema.ts'

/** A model server with OpenAI's API that records the models of its calls, and delegates where it may. */
export interface ModelUpstream {
  readonly url: string
  /** The distinct models of all calls since the last question. */
  models(): readonly string[]
  close(): Promise<void>
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }

export const startModelUpstream = async (): Promise<ModelUpstream> => {
  let called: string[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const text = Buffer.concat(parts).toString()
      if (request.method !== 'POST') return response.writeHead(200).end('{"data":[]}')
      called.push(modelIn(text))
      answer(response, request.url ?? '', text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: AddressInfo = Object(server.address())
  return {
    url: `http://127.0.0.1:${port}/v1`,
    models: () => {
      const seen = [...new Set(called)].sort()
      called = []
      return seen
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** The model of a JSON body or of a form. */
const modelIn = (text: string): string =>
  text.startsWith('{') ? String(JSON.parse(text).model) : (/name="model"\r\n\r\n(.*)\r\n/.exec(text)?.[1] ?? 'none')

const answer = (response: ServerResponse, path: string, text: string): void => {
  if (!path.endsWith('/chat/completions')) {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ results: [], text: 'x', usage }))
    return
  }
  const { stream, messages = [], tools = [], response_format: format } = JSON.parse(text)
  const last: unknown = messages.at(-1)
  const name: unknown = tools[0]?.function?.name
  const delegates = typeof name === 'string' && isObject(last) && last.role !== 'tool'
  const content = format === undefined ? 'Noted.' : '{"facts":[]}'
  const call = { index: 0, id: 'call_1', type: 'function', function: { name, arguments: '{"task":"dig"}' } }
  const said = delegates ? { role: 'assistant', tool_calls: [call] } : { role: 'assistant', content }
  const finish_reason = delegates ? 'tool_calls' : 'stop'
  const about = { id: 'chatcmpl-1', created: 1, model: 'own-1' }
  if (stream !== true) {
    const whole = { ...about, object: 'chat.completion', choices: [{ index: 0, message: said, finish_reason }], usage }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole))
    return
  }
  const chunk = { ...about, object: 'chat.completion.chunk' }
  const frames = [
    { ...chunk, choices: [{ index: 0, delta: said, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] },
    { ...chunk, choices: [], usage },
  ]
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')}data: [DONE]\n\n`)
}
