import fc from 'fast-check'
import { expect, it } from 'vitest'
import { mask, sanitized, sanitizedText, truncated } from '#records/sanitize.ts'
import { isObject } from '#runtime/schema.ts'
import type { Json } from '#storage/ports.ts'
import { cpuMs } from '#test/support/cpu-ms.ts'
import { deepFrozen } from '#test/support/deep-frozen.ts'

it.each([
  'password',
  'Passwd',
  'api_key',
  'apiKey',
  'x-api-key',
  'access_token',
  'clientSecret',
  'Authorization',
  'private_key',
  'credentials',
  'Cookie',
  'pin',
  'cvv',
  'ssn',
  'card_number',
  'iban',
])('masks any value under the key %s', (key) => {
  for (const value of ['x', 42, true, ['a'], { a: 1 }]) expect(sanitized({ [key]: value })).toEqual({ [key]: mask })
})

it.each([
  ['a key of a provider', 'sk-proj-abcdefghijklmnop'],
  ['a project key', 'csk_abcdefghijklmnop'],
  ['a signing secret', 'whsec_c2VjcmV0c2VjcmV0'],
  ['a token of a code host', 'ghp_abcdefghijklmnop1234'],
  ['a cloud access key', 'AKIAABCDEFGHIJKLMNOP'],
  ['a JSON web token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln'],
  ['a private key', '-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----'],
  ['a bearer header', 'Bearer abcdefghijklmnop'],
  ['a card number', '4111 1111 1111 1111'],
  ['an IBAN', 'DE89 3704 0044 0532 0130 00'],
  ['an IBAN without spaces', 'GB82WEST12345698765432'],
])('masks %s anywhere, and nothing else of the text', (what, secret) => {
  const shown = what === 'a bearer header' ? `Bearer ${mask}` : mask
  expect(sanitized({ a: [{ note: secret }] })).toEqual({ a: [{ note: shown }] })
  expect(sanitizedText(`before ${secret} , after`)).toMatch(/^before .*\[masked\].* , after$/)
})

it.each(['max_tokens', 'token_count', 'secret_name', 'passenger', 'pinned', 'compass', 'tokens'])(
  'shows the value under the key %s',
  (key) => {
    expect(sanitized({ [key]: 4096 })).toEqual({ [key]: 4096 })
  },
)

it('shows a text with a number of 13 digits, which a person may have to approve', () => {
  const note = 'Refund order 1732252800000 to the customer.'
  expect(sanitized({ note })).toEqual({ note })
})

it.each([
  ['JSON web tokens', 'eyJ-'],
  ['JSON web tokens with dots', 'eyJaaaaaaaa.'],
  ['keys', 'sk-'],
  ['private keys', '-----BEGIN A '],
  ['card numbers', '4 1-'],
  ['IBANs', 'DE89 AAAA '],
  ['bearer headers', 'bearer '],
])('takes time proportional to its length for half a megabyte of %s', (_, part) => {
  const text = part.repeat(500_000 / part.length)
  const started = cpuMs()
  sanitizedText(text)
  expect(cpuMs() - started).toBeLessThan(2_000)
})

it('handles arguments 20,000 levels deep', () => {
  let deep: Json = 'x'
  for (let depth = 0; depth < 20_000; depth++) deep = [deep]
  expect(JSON.stringify(sanitized(deep))).toContain(mask)
})

it.each(['hello', 'a task about tokens', 'order 12345', '2026-11-21T10:00:00.000Z', 'task-force-of-the-century'])(
  'leaves %j unchanged',
  (text) => {
    expect(sanitized({ note: text, city: 'Lagos', n: 12 })).toEqual({ note: text, city: 'Lagos', n: 12 })
  },
)

it('keeps the shape of any arguments and does not mutate them', () => {
  const shape = (value: Json | undefined): unknown => {
    if (Array.isArray(value)) return value.map(shape)
    return isObject(value) ? Object.keys(value) : null
  }
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (values) => {
      const value: Json = deepFrozen(JSON.parse(JSON.stringify(values)))
      expect(shape(sanitized(value))).toEqual(shape(value))
    }),
  )
})

it('truncates a long result and names its original length', () => {
  expect(truncated('x'.repeat(2000))).toBe('x'.repeat(2000))
  expect(truncated('x'.repeat(5000))).toBe(`${'x'.repeat(2000)}… (5000 characters)`)
})
