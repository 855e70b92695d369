import { describe, expect, it } from 'vitest'
import type { WebSearch } from '#gateway/apis/responses/searches/web-search.ts'
import { arrayOf, objectOf } from '#outgoing/wire.ts'
import { responsesWorld } from './responses-world.ts'
import { calling, saying } from './scripted-chat.ts'

const tools = [
  { type: 'custom' as const, name: 'apply_patch', description: 'Patches.' },
  {
    ...{ type: 'namespace' as const, name: 'files', description: 'Files.' },
    tools: [
      { type: 'function' as const, name: 'read', parameters: { type: 'object', properties: {} } },
      { type: 'function' as const, name: 'look_up', parameters: { type: 'object', properties: {} } },
    ],
  },
  { type: 'function' as const, name: 'look_up', parameters: { type: 'object', properties: {} }, strict: false },
  { type: 'web_search' as const },
  { type: 'local_shell' as const },
]
const request = { model: 'model-1', input: 'Patch it.', tools }

describe('client-side tools of the Responses API', () => {
  it('are sent to every model as functions; tools of a namespace keep their names where these are free', async () => {
    const { openai, chat } = await responsesWorld([{ deltas: saying('Done.') }])
    await openai.responses.create(request)
    expect(chat.last.tools).toMatchObject([
      { function: { name: 'apply_patch', parameters: { required: ['input'] } } },
      { function: { name: 'read' } },
      { function: { name: 'files__look_up' } },
      { function: { name: 'look_up' } },
    ])
  })

  it('are returned as they were declared, with and without streaming, and their outputs are accepted', async () => {
    const script = {
      deltas: calling(0, 'call_1', 'apply_patch', '{"input":"*** Begin\\nx"}'),
      finishReason: 'tool_calls',
    }
    const { openai, chat } = await responsesWorld([script, script, { deltas: saying('Done.') }])
    const call = { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: '*** Begin\nx' }
    const whole = await openai.responses.create(request)
    expect(whole.output).toMatchObject([call])
    const types: string[] = []
    const stream = openai.responses.stream(request)
    for await (const event of stream) types.push(event.type)
    expect((await stream.finalResponse()).output).toMatchObject([call])
    expect(types).toContain('response.custom_tool_call_input.delta')
    const output = { type: 'custom_tool_call_output' as const, call_id: 'call_1', output: 'patched' }
    await openai.responses.create({ ...request, input: [output], previous_response_id: whole.id })
    expect(chat.last.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ function: { arguments: '{"input":"*** Begin\\nx"}' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'patched' },
    ])
  })

  it('are returned with their namespace', async () => {
    const script = { deltas: calling(0, 'call_1', 'read', '{}'), finishReason: 'tool_calls' }
    const { openai } = await responsesWorld([script])
    const { output } = await openai.responses.create(request)
    expect(output).toMatchObject([{ type: 'function_call', name: 'read', namespace: 'files', arguments: '{}' }])
  })
})

describe('the tools that tool_choice allows', () => {
  const search: WebSearch = { search: async () => [] }
  const allowing = (...listed: readonly { readonly type: string; readonly name?: string }[]) => ({
    ...request,
    tool_choice: { type: 'allowed_tools' as const, mode: 'auto' as const, tools: [...listed] },
  })
  const offered = async (body: ReturnType<typeof allowing>) => {
    const { send, chat } = await responsesWorld([{ deltas: saying('Done.') }], { search })
    const { headers } = await send('/v1/responses', body)
    const names = arrayOf(chat.last.tools).map((tool) => objectOf(objectOf(tool).function).name)
    return { names, ignored: headers['x-ignored-tools'], choice: chat.last.tool_choice }
  }

  it('are all that the model is offered: a search of the web only if it is one of them', async () => {
    expect(await offered(allowing({ type: 'function', name: 'look_up' }))).toEqual({
      ...{ names: ['look_up'], choice: 'auto' },
      ignored: undefined,
    })
    expect(await offered(allowing({ type: 'web_search' }))).toMatchObject({ names: ['web_search'] })
    const both = allowing({ type: 'web_search_preview' }, { type: 'custom', name: 'apply_patch' })
    expect(await offered(both)).toMatchObject({ names: ['apply_patch', 'web_search'] })
  })
})

describe('tools that the server cannot run', () => {
  it.each([true, false])('are left out and listed in a header (streamed: %s)', async (stream) => {
    const { send, chat } = await responsesWorld([{ deltas: saying('Done.') }])
    const { headers, status } = await send('/v1/responses', { ...request, stream })
    expect([status, headers['x-ignored-tools']]).toEqual([200, 'web_search, local_shell'])
    expect(JSON.stringify(chat.last)).not.toContain('local_shell')
  })

  it('are refused where the answer would need them: code_interpreter of another provider', async () => {
    const { openai, chat } = await responsesWorld([{}])
    const code = { type: 'code_interpreter' as const, container: { type: 'auto' as const } }
    const sent = openai.responses.create({ ...request, tools: [...tools, code] })
    await expect(sent).rejects.toMatchObject({ status: 400, param: `tools[${tools.length}].type` })
    expect(chat.received).toEqual([])
  })

  it('are refused when the request forces one', async () => {
    const { openai } = await responsesWorld([{}])
    const forced = openai.responses.create({ ...request, tool_choice: { type: 'web_search_preview' } })
    await expect(forced).rejects.toMatchObject({ status: 400, param: 'tools' })
  })
})
