import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import { messageUseCases } from '#gateway/apis/messages/message-use-cases.ts'
import type { Route } from '#gateway/call/routes.ts'
import { messages } from '#specs/resources/gateway/messages.ts'
import { formServer } from './form-server.ts'
import { keptThreads } from './kept-threads.ts'
import { noDocuments } from './no-documents.ts'
import { ScriptedChat } from './scripted-chat.ts'
import { sdkFetch } from './sdk-fetch.ts'

const serving = (format: Route['format']) => {
  const route: Route = {
    ...{ model: 'model-1', provider: 'groq', format, baseUrl: 'http://127.0.0.1:1/v1' },
    ...{ apiKey: null, source: 'managed', connectionId: null },
  }
  const parts = { chat: new ScriptedChat({}), routes: { resolve: () => [route] }, documents: noDocuments }
  const send = formServer(messages, messageUseCases({ ...parts, ...keptThreads() }))
  return new Anthropic({
    ...{ apiKey: 'csk_x', baseURL: 'http://agents.example', fetch: sdkFetch(send), maxRetries: 0 },
  })
}

describe('the Anthropic SDK', () => {
  it.each(['openai', 'anthropic'] as const)(
    'gets a token count estimated by length where the provider of %s does not count',
    async (format) => {
      const anthropic = serving(format)
      const image = { type: 'base64' as const, media_type: 'image/png' as const, data: 'A'.repeat(40_000) }
      const content = [
        { type: 'text' as const, text: 'a word or two of text'.repeat(20) },
        { type: 'image' as const, source: image },
      ]
      const conversation = { model: 'model-1', messages: [{ role: 'user' as const, content }] }
      const { data, response } = await anthropic.messages.countTokens(conversation).withResponse()
      expect(data.input_tokens).toBeGreaterThan(1_600 + 100)
      expect(data.input_tokens).toBeLessThan(1_600 + 130)
      expect(response.headers.get('x-token-count')).toBe('estimate')
      expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
    },
  )

  it('gets the request id in a header of errors', async () => {
    const anthropic = serving('openai')
    const refused = await anthropic.messages
      .create({ model: 'model-1', max_tokens: 0, messages: [] })
      .catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 400, requestID: expect.stringMatching(/^[\w-]{8,}$/) })
  })
})
