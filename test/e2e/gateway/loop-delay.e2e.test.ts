import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from '../world.ts'

const mb = 1024 * 1024
const attempts = 4
/** The monitor of the loop rounds up to its own resolution. */
const resolutionMs = 12

const text = (length: number, piece = 'many things, and more '): string =>
  JSON.stringify(piece.repeat(Math.ceil(length / piece.length)).slice(0, length))
const chat = (content: string): string =>
  `{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":${content}}]}`

/**
 * What is sent, and how many times as long as to parse the same text with JSON.parse it may hold other requests up. A
 * ratio, since both are slower on a busy machine.
 */
const requests = [
  { title: 'a chat of 7 MB', body: chat(text(7 * mb)), most: 4 },
  {
    title: 'a chat of 7 MB of escaped quotes',
    body: chat(text(3.5 * mb, '"')),
    most: 4,
  },
]

const completion = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'gpt-4o-mini' },
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Yes.' } }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

/** A provider whose answers are short, in this process: what is measured is the server alone. */
const startProvider = (): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer((request, response) => {
      request.resume().once('end', () => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(completion))
      })
    })
    server.listen(0, '127.0.0.1', () => resolve(server))
  })

const parsingMs = (body: string): number => {
  const begun = performance.now()
  JSON.parse(body)
  return performance.now() - begun
}

describe('what other requests wait for', () => {
  let provider: Server
  let world: World
  beforeAll(async () => {
    provider = await startProvider()
    const address = provider.address()
    const port = typeof address === 'object' ? address?.port : undefined
    world = await World.start({ env: { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` } })
  })
  afterAll(async () => {
    await world.stop()
    provider.close()
  })

  /** The longest that the loop was held since the last question, in ms. */
  const heldMs = async (): Promise<number> => {
    const { body } = await world.api.get('/metrics')
    return 1000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(body)?.[1])
  }

  it.each(requests)(
    'is $most times what parsing takes, or less, while $title is served',
    async ({ body, most }) => {
      const held: number[] = []
      const parsing: number[] = []
      for (let attempt = 0; attempt < attempts; attempt++) {
        parsing.push(parsingMs(body))
        await heldMs()
        const answer = await world.api.fetch('/v1/chat/completions', body)
        expect(answer.status, await answer.text()).toBe(200)
        held.push(await heldMs())
      }
        // another process may have had the processor in one of them: what the request itself does, it does each time
      expect(Math.min(...held)).toBeLessThan(most * Math.min(...parsing) + resolutionMs)
    },
  )
})
