import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

const model = 'gpt-4o-mini'
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const completed = (text: string) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, usage },
  choices: [{ index: 0, message: { role: 'assistant', content: `You said: ${text}` }, finish_reason: 'stop' }],
})
const embedded = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1, 0] }], model, usage }

/** A provider that counts its requests by their message, and answers when `until` resolves. */
export const openProvider = async () => {
  const counts = new Map<string, number>()
  const held = { until: () => Promise.resolve() }
  const server = createServer(async (request, response) => {
    const { messages, input } = Object(await json(request))
    const text: string = messages?.at(-1)?.content ?? String(input)
    counts.set(text, (counts.get(text) ?? 0) + 1)
    await held.until()
    const status = text === 'refuse me' ? 400 : text === 'limit me' ? 429 : 200
    const answer = request.url === '/embeddings' ? embedded : completed(text)
    const body = status === 200 ? answer : { error: { message: 'Refused.', type: 'invalid_request_error' } }
    response
      .writeHead(status, { 'content-type': 'application/json', 'retry-after': '60' })
      .end(JSON.stringify(body, null, 2))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : null
  return { counts, held, url: `http://127.0.0.1:${port}`, close: () => server.close() }
}
