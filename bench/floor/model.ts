import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/**
 * Model server with the lowest possible cost per call: 20 chunks in one write, whatever the request; one fact when the
 * request has `response_format`. `node bench/floor/model.ts PORT`.
 *
 * `POST /model` uses the floor's own format, `POST /v1/chat/completions` OpenAI's. `GET /calls` returns the number of
 * calls, and the number of keys that were used more than once. The key is the floor's `key` or the Idempotency-Key.
 */
const tokens = Array.from({ length: 20 }, (_, at) => `token-${at} `)
const head = { 'content-type': 'text/event-stream' }
const frame = (data: object) => `data: ${JSON.stringify(data)}\n\n`

const floorStream = Buffer.from(`${tokens.map((delta) => frame({ delta })).join('')}data: [DONE]\n\n`)
const openAiStream = Buffer.from(openAiFrames(tokens))
const fact = {
  ...{ subject: 'user', relation: 'likes', object: 'smoked tea', single: false, ended: false, valid_from: null },
  text: 'The user likes smoked tea.',
}
const factStream = Buffer.from(openAiFrames([JSON.stringify({ facts: [fact] })]))

const callsByKey = new Map<string, number>()

createServer((request, response) => {
  if (request.method === 'GET') answerCalls(response)
  else if (request.url === '/model') answerFloor(request, response)
  else answerOpenAi(request, response)
}).listen(Number(process.argv[2]), '127.0.0.1')

function answerFloor(request: IncomingMessage, response: ServerResponse): void {
  let body = ''
  request.on('data', (part: Buffer) => {
    body += part
  })
  request.on('end', () => {
    const call: { key: string } = JSON.parse(body)
    count(call.key)
    response.writeHead(200, head).end(floorStream)
  })
}

function answerOpenAi(request: IncomingMessage, response: ServerResponse): void {
  const key = request.headers['idempotency-key']
  if (typeof key === 'string') count(key)
  let isFormed = false
  request.on('data', (part: Buffer) => {
    isFormed ||= part.includes('"response_format"')
  })
  request.on('end', () => response.writeHead(200, head).end(isFormed ? factStream : openAiStream))
}

function answerCalls(response: ServerResponse): void {
  const counts = [...callsByKey.values()]
  response.end(
    JSON.stringify({ calls: counts.reduce((sum, n) => sum + n, 0), twice: counts.filter((n) => n > 1).length }),
  )
}

function count(key: string): void {
  callsByKey.set(key, (callsByKey.get(key) ?? 0) + 1)
}

function openAiFrames(contents: readonly string[]): string {
  const base = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench' }
  const choice = (delta: object, finish_reason: string | null = null) =>
    frame({ ...base, choices: [{ index: 0, delta, finish_reason }] })
  const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }
  return [
    choice({ role: 'assistant', content: '' }),
    ...contents.map((content) => choice({ content })),
    choice({}, 'stop'),
    frame({ ...base, choices: [], usage }),
    'data: [DONE]\n\n',
  ].join('')
}
