import { describe, expect, it } from 'vitest'
import { wholeWithCost } from '#gateway/call/accounting/shown-cost.ts'
import { objectOf } from '#outgoing/wire.ts'

const withCost = (json: string, usd: string | null = '0.0015') =>
  wholeWithCost(Buffer.from(json), objectOf(JSON.parse(json)), usd)?.toString() ?? null

describe('the cost in the bytes of an answer', () => {
  it('is added to its usage, and everything else keeps its bytes', () => {
    const text = String.raw`"choices" : [{"message":{"content":"the \"usage\": {} of caf\u00e9, 1.0e0"}}]`
    expect(withCost(`{${text},\n "usage": {"prompt_tokens":3}, "system_fingerprint":null}`)).toBe(
      `{${text},\n "usage": {"cost_usd":0.0015,"prompt_tokens":3}, "system_fingerprint":null}`,
    )
  })

  it.each([
    ['the price is unknown', '{"usage":{"prompt_tokens":3}}', null],
    ['there is no usage', '{"choices":[]}', '0.1'],
  ])('is left out when %s', (_, json, usd) => expect(withCost(json, usd)).toBe(json))

  it.each([
    ['other objects have a usage too', '{"usage":{"prompt_tokens":3},"choices":[{"usage":{"x":1}}]}'],
    ['the provider reports one itself', '{"usage":{"cost_usd":1,"prompt_tokens":3}}'],
    ['the usage is empty', '{"usage":{}}'],
    ['the name is written with an escape', String.raw`{"us\u0061ge":{"prompt_tokens":3}}`],
  ])('needs the document to be encoded again when %s', (_, json) => expect(withCost(json)).toBeNull())
})
