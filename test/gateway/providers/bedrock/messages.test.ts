import { describe, expect, it } from 'vitest'
import { messageRequestOf } from '#gateway/apis/messages/message-request.ts'
import type { Route } from '#gateway/call/routes.ts'
import type { MessagesParts } from '#gateway/providers/anthropic/messages-service.ts'
import { bedrock } from '#gateway/providers/bedrock/bedrock-format.ts'
import { messagesOf } from '#gateway/providers/provider-formats.ts'
import { objectOf, parseJson } from '#outgoing/wire.ts'

const claude = 'eu.anthropic.claude-haiku-4-5-20251001-v1:0'
const routeOf = (model: string, settings: Route['settings'] = {}): Route => ({
  ...{ model, provider: 'bedrock', format: 'bedrock', baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com' },
  ...{ apiKey: 'key', source: 'byok', connectionId: 'pvc_1', settings },
})
const mark = { cache_control: { type: 'ephemeral' as const } }
const text = { type: 'text', text: 'Hello' }
const search = { type: 'web_search_20250305', name: 'web_search' }
const weather = { name: 'weather', input_schema: { type: 'object' } }
const message = {
  ...{ model: claude, max_tokens: 4096, system: [{ type: 'text', text: 'Be brief.', ...mark }] },
  ...{ messages: [{ role: 'user' as const, content: [text] }], thinking: { type: 'adaptive' as const }, ...mark },
}
const everything = { tools: null, fields: ['container', 'context_management'] as const, betas: true }
const sentBy = async (route: Route, given: object, service: MessagesParts | null = messagesOf(route)) => {
  const { body, ignored } = messageRequestOf({ ...message, ...given }, { service, reasons: true })
  const request = bedrock.chat?.request(body, route, false)
  return {
    path: request?.path,
    ignored,
    body: objectOf(parseJson(Buffer.from((await request?.body) ?? '').toString())),
  }
}

describe('a message to Claude on Bedrock', () => {
  it('is sent by Converse where the connection says so, with its marks, its thinking and no tool of Anthropic', async () => {
    const converse = await sentBy(routeOf(claude, { api: 'converse' }), { tools: [search, weather] })
    expect(converse).toMatchObject({ path: expect.stringMatching(/\/converse$/), ignored: [search.type] })
    const cachePoint = { type: 'default' }
    expect(converse.body).toMatchObject({
      system: [{ text: 'Be brief.' }, { cachePoint }],
      messages: [{ role: 'user', content: [{ text: 'Hello' }, { cachePoint }] }],
      toolConfig: { tools: [{ toolSpec: { name: 'weather' } }] },
      additionalModelRequestFields: { thinking: { type: 'adaptive' } },
    })
  })

  it('that was made for Anthropic has what Bedrock knows, as a fallback, by either operation', async () => {
    const more = { tools: [search, weather], container: 'container_1' }
    const invoked = await sentBy(routeOf(claude), more, everything)
    expect(invoked.path).toMatch(/\/invoke$/)
    expect(invoked.body).toEqual({
      ...{ anthropic_version: 'bedrock-2023-05-31', max_tokens: 4096, thinking: { type: 'adaptive' } },
      ...{ system: message.system, messages: [{ role: 'user', content: [{ ...text, ...mark }] }], tools: [weather] },
    })
    const only = await sentBy(routeOf(claude), { tools: [search] }, everything)
    expect(only.body).not.toHaveProperty('tools')
    const other = await sentBy(routeOf('amazon.nova-lite-v1:0'), more, everything)
    expect(other.path).toMatch(/\/converse$/)
    expect(other.body.toolConfig).toEqual({ tools: [expect.objectContaining({ toolSpec: expect.anything() })] })
  })

  it('has the mark of the whole request at its last block that can have one', async () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'x' }
    const turns = [...message.messages, { role: 'assistant' as const, content: [text, thought] }]
    const { body } = await sentBy(routeOf(claude), { messages: turns })
    expect(body.messages).toEqual([
      message.messages[0],
      { role: 'assistant', content: [{ ...text, ...mark }, thought] },
    ])
    const long = { cache_control: { type: 'ephemeral', ttl: '1h' } }
    const marked = [{ role: 'user' as const, content: [{ ...text, ...long }] }]
    expect((await sentBy(routeOf(claude), { messages: marked })).body.messages).toEqual(marked)
  })
})
