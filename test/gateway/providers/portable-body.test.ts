import { describe, expect, it } from 'vitest'
import { ownRequestField } from '#gateway/providers/anthropic/anthropic-request.ts'
import { portableBody } from '#gateway/providers/portable-body.ts'
import { idWithSignature, plainCallId } from '#gateway/providers/tool-call-id.ts'
import { routeTo } from './format-harness.ts'

const openAi = { ...routeTo('anthropic', 'gpt-4o'), format: 'openai' as const, baseUrl: 'https://api.openai.com/v1' }
const compatible = { ...openAi, baseUrl: 'https://models.example/v1' }
const signed = idWithSignature('call_1', 'gemini-3.5-flash', 'c2ln'.repeat(50))
const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })

describe('a conversation for an OpenAI-compatible server', () => {
  it('is the same object when it has no content of other formats', () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [call('call_1')] },
      { role: 'tool', tool_call_id: 'call_1', content: 'x' },
    ]
    for (const body of [{ messages }, { messages: [null, 'a'] }, {}]) expect(portableBody(body, openAi)).toBe(body)
  })

  it('has tool call ids without signatures, in calls and results', () => {
    const messages = [
      { role: 'assistant', content: null, tool_calls: [call(signed), call('call_2')] },
      { role: 'tool', tool_call_id: signed, content: 'x' },
    ]
    expect(plainCallId(signed)).toBe('call_1')
    expect(portableBody({ model: 'm', messages }, compatible)).toEqual({
      model: 'm',
      messages: [
        { role: 'assistant', content: null, tool_calls: [call('call_1'), call('call_2')] },
        { role: 'tool', tool_call_id: 'call_1', content: 'x' },
      ],
    })
  })

  it('keeps thinking blocks and images for compatible servers, and not for OpenAI itself', () => {
    const plain = { role: 'assistant', content: 'Hello' }
    const answer = { ...plain, reasoning_content: 'Hm.', thinking_blocks: [{}], images: [{}] }
    expect(portableBody({ messages: [answer] }, openAi)).toEqual({ messages: [plain] })
    expect(portableBody({ messages: [answer] }, compatible)).toEqual({ messages: [answer] })
  })

  it("has nothing of Anthropic's requests for OpenAI itself, nor for others after a conversion for Anthropic", () => {
    const mark = { cache_control: { type: 'ephemeral' } }
    const tool = { type: 'function', function: { name: 'f' } }
    const request = {
      ...{ model: 'm', ...mark, thinking: { type: 'enabled' }, top_k: 5, output_config: { effort: 'low' } },
      tools: [{ ...tool, ...mark }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi', ...mark }] },
        { role: 'assistant', content: null, tool_calls: [{ ...call('call_1'), ...mark }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'x', is_error: true, ...mark },
      ],
    }
    const plain = {
      model: 'm',
      tools: [tool],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        { role: 'assistant', content: null, tool_calls: [call('call_1')] },
        { role: 'tool', tool_call_id: 'call_1', content: 'x' },
      ],
    }
    expect(portableBody(request, openAi)).toEqual(plain)
    expect(portableBody({ ...request, [ownRequestField]: {} }, compatible)).toEqual(plain)
    expect(portableBody(request, compatible)).toBe(request)
  })
})
