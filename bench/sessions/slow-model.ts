import { createServer, type ServerResponse } from 'node:http'

/**
 * Model in OpenAI's format that streams slowly: `slow-model.ts PORT GAP_MS [CHUNKS]`. It sends one chunk every
 * `GAP_MS`, 40 unless `CHUNKS` is given; each contains the time at which it was sent (ms since the epoch), so that a reader on the same machine can compute the
 * delay.
 */
const gapMs = Number(process.argv[3])
const chunks = Number(process.argv[4] ?? 40)

const frame = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const base = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench' }
const usage = { prompt_tokens: 10, completion_tokens: chunks, total_tokens: 10 + chunks }

const choice = (delta: object, finish_reason: string | null = null) =>
  frame({ ...base, choices: [{ index: 0, delta, finish_reason }] })

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(choice({ role: 'assistant', content: '' }))
    stream(response)
  })
})
// a thousand turns at once need a thousand connections
server.listen(Number(process.argv[2]), '127.0.0.1', 4096)

function stream(response: ServerResponse): void {
  const startedAt = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    // a timer has whole ms: the rate follows from the clock
    const due = Math.floor((performance.now() - startedAt) / gapMs)
    for (; sent < Math.min(due, chunks); sent++) response.write(choice({ content: ` @${Date.now()}` }))
    if (due <= chunks) return
    response.end(`${choice({}, 'stop')}${frame({ ...base, choices: [], usage })}data: [DONE]\n\n`)
    clearInterval(timer)
  }, gapMs)
  response.on('close', () => clearInterval(timer))
}
