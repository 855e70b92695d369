import { describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { openapiFile } from '#scripts/generate/openapi.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { requestValidator } from '#specs/dsl/validate.ts'

const said = [{ role: 'user', content: 'Hi' }]
const model = 'm'
const newPart = [{ role: 'user', content: [{ type: 'hologram', hologram: { depth: 3 } }] }]
const newTool = { type: 'teleport_20270101', name: 't', range: [1, 2] }
const newChoice = { type: 'by_mood', mood: 'good' }

const unknown = [
  ['chat_completions.create', { model, messages: newPart }],
  ['chat_completions.create', { model, messages: said, tools: [newTool], tool_choice: newChoice, new_field: [1] }],
  ['chat_completions.create', { model, messages: [{ ...said[0], mood: 'good' }], response_format: { type: 'rhyme' } }],
  ['messages.create', { model, max_tokens: 1, messages: newPart, tools: [newTool], thinking: { type: 'loud' } }],
  ['messages.create', { model, max_tokens: 1, messages: said, system: newPart[0]?.content, new_field: 1 }],
  ['responses.create', { model, input: [{ type: 'dream', of: 'sheep' }], tools: [newTool], tool_choice: newChoice }],
  ['responses.create', { model, input: newPart, text: { format: { type: 'rhyme' } } }],
  ['ai_chat.create', { model, messages: newPart, tools: [newTool] }],
] as const

describe('bodies of third-party APIs', () => {
  it.each(unknown)('of %s may have unknown parts, tools and fields: %j', (id, body) => {
    const sent = structuredClone(body)
    expect(() => requestValidator(operations[id]).body(sent)).not.toThrow()
    expect(sent).toEqual(body)
  })

  it.each([
    ['chat_completions.create', { model, messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
    ['chat_completions.create', { model, messages: said, tool_choice: 7 }, 'tool_choice'],
    ['chat_completions.create', { model, messages: said, response_format: 'json' }, 'response_format'],
    [
      'messages.create',
      { model, max_tokens: 1, messages: [{ role: 'user', content: ['Hi'] }] },
      'messages[0].content[0]',
    ],
    ['responses.create', { model, input: 'Hi', tool_choice: 7 }, 'tool_choice'],
    ['ai_chat.create', { model, messages: said, toolChoice: 7 }, 'toolChoice'],
  ] as const)('of %s are refused if a field has an impossible type: %j', (id, body, param) => {
    expect(() => requestValidator(operations[id]).body(structuredClone(body))).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ param }) }),
    )
  })

  it('have their known shapes in the OpenAPI document', () => {
    const shown = openapiFile(Object.values<Operation>(operations), '1.2.3').text
    for (const name of [
      'ChatTextPart',
      'ChatImagePart',
      'ChatFunctionTool',
      'ChatSchemaFormat',
      'MessageToolResultBlock',
    ])
      expect(shown).toContain(`#/components/schemas/${name}`)
    for (const name of ['ResponseInputMessage', 'ResponseFunctionOutput', 'ResponseNamedChoice', 'OtherChatPart'])
      expect(shown).toContain(`#/components/schemas/${name}`)
    expect(shown).not.toContain('x-shape')
  })
})
