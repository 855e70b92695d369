import { expect, it } from 'vitest'
import { cloudBody } from '#gateway/providers/anthropic/cloud-messages.ts'
import { bedrockClaude } from '#gateway/providers/bedrock/claude-on-bedrock.ts'
import { vertexClaude } from '#gateway/providers/vertex/claude-on-vertex.ts'

const mark = { type: 'ephemeral' }
const said = (content: unknown) => ({ role: 'assistant', content })
const text = { type: 'text', text: 'Found.' }
const search = { type: 'server_tool_use', id: 'a', name: 'web_search', input: {} }
const result = { type: 'web_search_tool_result', tool_use_id: 'a', content: [] }
const found = { type: 'tool_search_tool_result', tool_use_id: 'b', content: {} }
const ran = { type: 'bash_code_execution_tool_result', tool_use_id: 'c', content: {} }

it('a mark of the whole request is left out where no block can have it', () => {
  for (const content of ['Hi', [], [{ type: 'text', text: '' }]]) {
    const request = { model: 'claude-sonnet-4-5', cache_control: mark, messages: [{ role: 'user', content }] }
    expect(cloudBody(request, vertexClaude).messages).toEqual([{ role: 'user', content }])
  }
})

it('a history has no calls and results of tools that a cloud does not know', () => {
  const history = [said([search, result, found, text]), said([ran]), said('Bye')]
  const messagesAt = (cloud: typeof vertexClaude) =>
    cloudBody({ model: 'claude-sonnet-4-5', messages: history }, cloud).messages
  expect(messagesAt(vertexClaude)).toEqual([said([search, result, found, text]), said('Bye')])
  expect(messagesAt(bedrockClaude)).toEqual([said([found, text]), said('Bye')])
})

it('a model that caches nothing gets no marks, and one that does keeps them', () => {
  const marked = { ...text, cache_control: mark }
  const request = {
    ...{ cache_control: mark, system: [marked], messages: [said([marked])] },
    tools: [{ name: 'look', input_schema: {}, cache_control: mark }],
  }
  const sent = (model: string) => JSON.stringify(cloudBody({ model, ...request }, bedrockClaude))
  for (const model of ['claude-v2', 'claude-3-haiku-20240307', 'claude-3-5-sonnet-20240620'])
    expect(sent(model)).not.toContain('cache_control')
  for (const model of ['claude-3-5-haiku-20241022', 'claude-3-5-sonnet-20241022', 'claude-haiku-4-5-20251001'])
    expect(sent(model).split('cache_control')).toHaveLength(4)
})
