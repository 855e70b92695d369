import { describe, expect, it } from 'vitest'
import { filledMessages, variablesOf } from '#actors/prompts/filled-messages.ts'
import { minCpuMs } from '#test/support/min-cpu-ms.ts'

const system = { role: 'system', content: 'Speak {{ language }}, {{language}} only. Keep {{}} and {{ 1 }}.' } as const
const user = { role: 'user', content: 'Describe {{thing}} for {{who}}.' } as const

const refusal = (code: string, param: string) =>
  expect.objectContaining({ code, details: expect.objectContaining({ param }) })

describe('a stored prompt', () => {
  it('has the variables of all its messages, each once', () => {
    expect(variablesOf([system, user])).toEqual(['language', 'thing', 'who'])
  })

  it('contains the values of a request, and the defaults of its version for the rest', () => {
    const template = { messages: [system, user], variables: { language: 'Latin', who: 'a child' } }
    expect(filledMessages(template, { thing: '{{who}} $& $1', language: 'Thai' })).toEqual([
      { type: 'message', role: 'system', content: 'Speak Thai, Thai only. Keep {{}} and {{ 1 }}.' },
      { type: 'message', role: 'user', content: 'Describe {{who}} $& $1 for a child.' },
    ])
  })

  it('contains content parts in the messages of the user', () => {
    const image = { type: 'input_image', image_url: 'https://pictures.example/1.png' }
    expect(filledMessages({ messages: [user] }, { thing: image, who: 'us' })).toEqual([
      {
        ...{ type: 'message', role: 'user' },
        content: [{ type: 'input_text', text: 'Describe ' }, image, { type: 'input_text', text: ' for us.' }],
      },
    ])
    const misplaced = () => filledMessages({ messages: [system] }, { language: image })
    expect(misplaced).toThrow(refusal('invalid_field', 'prompt.variables.language'))
  })

  it.each([
    ['a variable without a value', { thing: 'a' }, 'missing_field', 'prompt.variables.who'],
    ['a value without a variable', { thing: 'a', who: 'b', whom: 'c' }, 'invalid_field', 'prompt.variables.whom'],
  ])('names %s', (_which, given, code, param) => {
    expect(() => filledMessages({ messages: [user] }, given)).toThrow(refusal(code, param))
  })

  it('costs no more than the length of a hostile text', () => {
    const content = '{{ '.repeat(60_000) + '{{a'.repeat(6_000)
    const found = () => variablesOf([{ role: 'user', content }])
    expect(found()).toEqual([])
    expect(minCpuMs(found)).toBeLessThan(50)
  })

  it('is refused, soon, when its variables make it longer than a request may be', () => {
    const messages = [{ role: 'user', content: '{{a}}'.repeat(40_000) } as const]
    const ms = minCpuMs(() =>
      expect(() => filledMessages({ messages }, { a: 'x'.repeat(1_000_000) })).toThrow(
        refusal('invalid_field', 'prompt.variables'),
      ),
    )
    const image = { type: 'input_image', image_url: 'x'.repeat(1_000_000) }
    expect(() => filledMessages({ messages }, { a: image })).toThrow(refusal('invalid_field', 'prompt.variables'))
    expect(ms).toBeLessThan(50)
  })
})
