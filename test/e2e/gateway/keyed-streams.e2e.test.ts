import { randomUUID } from 'node:crypto'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openUpstream, type Upstream, whole } from '#test/gateway/call/scripted-upstream.ts'
import { goodAnswer, goodStream } from '#test/gateway/chat/chat-world.ts'
import { either, type StoreName, World } from '../world.ts'

describe.each(either('sqlite'))(
  'a request with an Idempotency-Key on $store',
  ({ store }: { readonly store: StoreName }) => {
    let upstream: Upstream
    let world: World

    beforeAll(async () => {
      upstream = await openUpstream()
      world = await World.start({ store, env: { OPENAI_API_KEY: 'sk-managed', OPENAI_BASE_URL: upstream.url } })
    }, 120_000)
    afterAll(async () => {
      await world.stop()
      await upstream.close()
    })

    const model = 'gpt-4o-mini'
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const calls = async () => (await world.api.get('/v1/usage')).body.totals.calls

    it.each([
      ['/v1/chat/completions', { model, messages, stream: true }],
      ['/v1/responses', { model, input: 'Hi', stream: true }],
      ['/v1/messages', { model, messages, max_tokens: 9, stream: true }],
      ['/api/ai/chat', { model, messages, stream: true }],
      ['/v1/audio/speech', { model: 'tts-1', input: 'Hi', voice: 'alloy', stream: true }],
    ])('to %s replays the recorded stream, and calls the provider and charges once', async (path, body) => {
      const isSpeech = path.endsWith('speech')
      upstream.script(
        isSpeech
          ? (response) => response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('ID3 and so on')
          : whole(goodStream),
      )
      const headers = { 'idempotency-key': randomUUID() }
      const before = await calls()
      const read = async () => {
        const answer = await world.api.fetch(path, body, { headers })
        return { status: answer.status, text: await answer.text(), replayed: answer.headers.get('idempotent-replayed') }
      }
      const first = await read()
      expect(first).toMatchObject({ status: 200, replayed: null })
      expect(first.text.length).toBeGreaterThan(10)
      expect(await read()).toEqual({ ...first, replayed: 'true' })
      expect(upstream.received).toHaveLength(1)
      expect(await calls()).toBe(before + 1)
    })

    it('to embeddings replays the recorded answer, and calls the provider once', async () => {
      const data = [{ object: 'embedding', index: 0, embedding: [1, 2] }]
      const usage = { prompt_tokens: 1, total_tokens: 1 }
      upstream.script((response) => response.end(JSON.stringify({ object: 'list', model: 'm', data, usage })))
      const headers = { 'idempotency-key': randomUUID() }
      const read = () => world.api.post('/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi' }, { headers })
      const { body } = await read()
      expect((await read()).body).toEqual(body)
      expect(upstream.received).toHaveLength(1)
    })

    it('replays the same chunks to the official client, also after kill -9', async () => {
      upstream.script(whole(goodStream))
      const client = new OpenAI({ apiKey: world.secretKey, baseURL: `${world.url}/v1`, maxRetries: 0 })
      const read = async () => {
        const chunks: unknown[] = []
        const options = { headers: { 'Idempotency-Key': 'by the client' } }
        for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }, options))
          chunks.push(chunk)
        return chunks
      }
      const first = await read()
      expect(first.length).toBeGreaterThan(2)
      expect(await read()).toEqual(first)
      await world.crash()
      await world.restart()
      expect(await read()).toEqual(first)
      expect(upstream.received).toHaveLength(1)
      upstream.script((response) => response.end(JSON.stringify(goodAnswer)))
    })
  },
)
