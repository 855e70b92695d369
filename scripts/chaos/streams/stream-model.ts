import { createServer, type ServerResponse } from 'node:http'

/**
 * Model in OpenAI's format whose answers differ from attempt to attempt: `stream-model.ts PORT TOKENS PER_SECOND`. Token n of the
 * call c is `c.n `, so a text that contains two attempts, one of them twice, or a gap shows it. An answer that is not
 * streamed takes as long.
 */
const [port = 0, tokens = 0, perSecond = 1] = process.argv.slice(2).map(Number)
const base = { id: 'chatcmpl-chaos', object: 'chat.completion.chunk', created: 1, model: 'chaos' }
let calls = 0

const frame = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const choice = (delta: object, finish_reason: string | null = null) =>
  frame({ ...base, choices: [{ index: 0, delta, finish_reason }] })

const server = createServer((request, response) => {
  let body = ''
  request.on('data', (part) => (body += part))
  request.on('end', () => (/"stream":\s*true/.test(body) ? answer : answerAtOnce)(response, ++calls))
})
server.listen(port, '127.0.0.1', 4096)

const usage = { prompt_tokens: 20, completion_tokens: tokens, total_tokens: tokens + 20 }

function answerAtOnce(response: ServerResponse, call: number): void {
  const content = Array.from({ length: tokens }, (_, at) => `${call}.${at} `).join('')
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
  const body = JSON.stringify({ ...base, object: 'chat.completion', choices, usage })
  const timer = setTimeout(() => response.end(body), (tokens / perSecond) * 1000)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.on('close', () => clearTimeout(timer))
}

function answer(response: ServerResponse, call: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const startedAt = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const due = Math.min(tokens, Math.floor(((performance.now() - startedAt) / 1000) * perSecond) + 1)
    while (sent < due) response.write(choice({ content: `${call}.${sent++} ` }))
    if (sent < tokens) return
    clearInterval(timer)
    response.end(`${choice({}, 'stop')}${frame({ ...base, choices: [], usage })}data: [DONE]\n\n`)
  }, 1000 / perSecond)
  response.on('close', () => clearInterval(timer))
}
