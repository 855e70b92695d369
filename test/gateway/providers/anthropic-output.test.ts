import { describe, expect, it } from 'vitest'
import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { hello, sent } from './format-harness.ts'

const haiku = 'claude-haiku-4-5'
const opus = 'claude-opus-5'
const body = (fields: ChatBody, model = haiku): Record<string, unknown> => sent('anthropic', model, fields)
const withFields = (fields: ChatBody, model = haiku) => body({ ...hello, ...fields }, model)
const weather = { type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }
const called = (id: string, args: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'get_weather', arguments: args } }],
})

describe('the thinking options for Anthropic', () => {
  it.each([
    [haiku, 'low', { type: 'enabled', budget_tokens: 2_048 }, undefined],
    [haiku, 'high', { type: 'enabled', budget_tokens: 16_384 }, undefined],
    [haiku, 'none', undefined, undefined],
    ['claude-opus-4-6', 'medium', { type: 'adaptive' }, { effort: 'medium' }],
    ['claude-opus-4-6', 'xhigh', { type: 'adaptive' }, { effort: 'high' }],
    [opus, 'xhigh', { type: 'adaptive' }, { effort: 'xhigh' }],
    [opus, 'minimal', { type: 'adaptive' }, { effort: 'low' }],
    [opus, 'none', { type: 'disabled' }, undefined],
    ['claude-fable-5', 'none', undefined, { effort: 'low' }],
    ['claude-of-tomorrow', 'high', { type: 'adaptive' }, { effort: 'high' }],
    ['claude-3-5-haiku-20241022', 'high', undefined, undefined],
    ['some-model', 'high', undefined, undefined],
  ])('of %s follow an effort of %s', (model, reasoning_effort, thinking, output_config) => {
    const requested = withFields({ reasoning_effort }, model)
    expect([requested.thinking, requested.output_config]).toEqual([thinking, output_config])
  })

  it('leave half of the tokens for the answer, and are absent below the minimum budget', () => {
    expect(withFields({ reasoning_effort: 'high', max_tokens: 8_000 })).toMatchObject({
      thinking: { budget_tokens: 4_000 },
    })
    expect(withFields({ reasoning_effort: 'high', max_tokens: 2_000 })).not.toHaveProperty('thinking')
  })

  it('exclude sampling, and are absent with a forced tool', () => {
    expect(withFields({ reasoning_effort: 'low', temperature: 0.2 })).not.toHaveProperty('temperature')
    const forced = withFields({ reasoning_effort: 'low', tools: [weather], tool_choice: 'required' })
    expect(forced).toMatchObject({ tool_choice: { type: 'any' } })
    expect(forced).not.toHaveProperty('thinking')
  })

  it('set no budget during tool calls without their thinking blocks', () => {
    const messages = [
      { role: 'user', content: 'Weather?' },
      called('c1', '{}'),
      { role: 'tool', tool_call_id: 'c1', content: 'grey' },
    ]
    expect(body({ messages, reasoning_effort: 'low' })).not.toHaveProperty('thinking')
    expect(body({ messages, reasoning_effort: 'low' }, opus)).toMatchObject({ thinking: { type: 'adaptive' } })
  })

  it('keep thinking options in the format of Anthropic', () => {
    const thinking = { type: 'enabled', budget_tokens: 1_500, display: 'omitted' }
    expect(withFields({ thinking, reasoning_effort: 'high' })).toMatchObject({ thinking })
  })
})

describe('JSON output for Anthropic', () => {
  const schema = {
    type: 'object',
    properties: { age: { type: 'integer', minimum: 0 }, tags: { type: 'array', items: { type: 'object' } } },
    required: ['age'],
  }
  const json_schema = { name: 'person', strict: true, schema }

  it('requires the closed schema of a model with structured outputs', () => {
    expect(withFields({ response_format: { type: 'json_schema', json_schema } })).toMatchObject({
      output_config: {
        format: {
          type: 'json_schema',
          schema: {
            type: 'object',
            properties: {
              age: { type: 'integer', description: 'minimum: 0' },
              tags: { type: 'array', items: { type: 'object', additionalProperties: false } },
            },
            required: ['age'],
            additionalProperties: false,
          },
        },
      },
    })
  })

  it('keeps an effort in the format of Anthropic with any thinking, without it, and with a forced tool', () => {
    const own = { output_config: { effort: 'max' }, reasoning_effort: 'low' }
    expect(withFields(own, opus)).toMatchObject({ output_config: { effort: 'max' } })
    expect(withFields(own, opus)).not.toHaveProperty('thinking')
    const thinking = { type: 'adaptive' }
    expect(withFields({ ...own, thinking }, opus)).toMatchObject({ thinking, output_config: { effort: 'max' } })
    const forced = withFields({ ...own, thinking, tools: [weather], tool_choice: 'required' }, opus)
    expect(forced).toMatchObject({ output_config: { effort: 'max' } })
    expect(forced).not.toHaveProperty('thinking')
  })

  it('keeps the effort together with the schema', () => {
    const requested = withFields(
      { response_format: { type: 'json_schema', json_schema }, reasoning_effort: 'low' },
      opus,
    )
    expect(requested.output_config).toMatchObject({ effort: 'low', format: { type: 'json_schema' } })
  })

  it('is the input of a forced tool for other models', () => {
    expect(withFields({ response_format: { type: 'json_schema', json_schema } }, 'some-model')).toMatchObject({
      tools: [{ name: 'answer_in_json', input_schema: schema }],
      tool_choice: { type: 'tool', name: 'answer_in_json' },
    })
    expect(withFields({ response_format: { type: 'json_object' } })).toMatchObject({
      tools: [{ input_schema: { type: 'object', additionalProperties: true } }],
    })
  })

  it('is requested in the system prompt when a tool cannot be forced', () => {
    const response_format = { type: 'json_object' }
    for (const requested of [
      withFields({ response_format, tools: [weather] }),
      withFields({ response_format, reasoning_effort: 'low' }),
      withFields({ response_format }, 'claude-fable-5'),
    ]) {
      expect(requested.system).toMatchObject([{ type: 'text', text: expect.stringContaining('JSON object') }])
      expect(requested).not.toHaveProperty('tool_choice')
    }
  })

  it('is absent for text, and an unknown format is refused', () => {
    expect(withFields({ response_format: { type: 'text' } })).not.toHaveProperty('output_config')
    expect(() => withFields({ response_format: { type: 'grammar' } })).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ param: 'response_format' }) }),
    )
  })
})
