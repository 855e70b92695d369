import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Restorer } from '#gateway/call/redaction.ts'
import { findHits } from '#gateway/redaction/find-personal-data.ts'
import { Placeholders } from '#gateway/redaction/placeholders.ts'
import { policyBy } from '#gateway/redaction/redaction-policy.ts'
import { defaultTypes } from '#specs/resources/gateway/redaction.ts'
import { runsByDay } from '#test/setup/at-night.ts'
import { corpus } from './corpus.ts'

const policy = policyBy({ types: defaultTypes, input: true, toolArguments: true, restore: true, region: 'US' })

const redact = (...texts: string[]) => policy.redact(texts)

const restorerOf = (...texts: string[]): Restorer => {
  const { restorer } = redact(...texts)
  if (restorer === null) throw new Error('nothing was replaced')
  return restorer
}

const ada = 'ada@example.com'
const bob = 'bob@example.com'

/** The restored text, pushed in parts of this length. */
const inParts = (restorer: Restorer, text: string, length: number): string => {
  let out = ''
  for (let at = 0; at < text.length; at += length) out += restorer.push(text.slice(at, at + length))
  return out + restorer.end()
}

describe('placeholders', () => {
  it('have the same number for the same value in all texts of a request', () => {
    expect(redact(`${ada}, ${bob}`, `${bob} and ${ada}`, '+1 415 555 2671').texts).toEqual([
      '[EMAIL_1], [EMAIL_2]',
      '[EMAIL_2] and [EMAIL_1]',
      '[PHONE_1]',
    ])
  })

  it('leave a text without personal data unchanged', () => {
    const text = 'Order 4829-1138-2204 shipped on 2025-11-21.'
    expect(redact(text)).toEqual({ texts: [text], toolArguments: [], restorer: null })
  })

  it('skip numbers that occur in the request', () => {
    const { texts, restorer } = redact('What does [EMAIL_3] mean?', `write ${ada}`)
    expect(texts).toEqual(['What does [EMAIL_3] mean?', 'write [EMAIL_4]'])
    expect(restorer?.restore('[EMAIL_3] is not [EMAIL_4]')).toBe(`[EMAIL_3] is not ${ada}`)
    const high = redact('[EMAIL_999999] and [EMAIL_1]', `write ${ada}`)
    expect(high.restorer?.restore(high.texts.join())).toBe(`[EMAIL_999999] and [EMAIL_1],write ${ada}`)
  })

  it('start at 1 in each request', () => {
    expect([redact(ada).texts[0], redact(bob).texts[0]]).toEqual(['[EMAIL_1]', '[EMAIL_1]'])
  })

  it('keep JSON valid when they replace numbers', () => {
    const text =
      '{"to":"ada@example.com","card":4242424242424242,"note":"4242 4242 4242 4242\\n+1 415 555 2671","n":12}'
    const { toolArguments } = policy.redact([], [text])
    expect(JSON.parse(toolArguments[0] ?? '')).toEqual({
      to: '[EMAIL_1]',
      card: '[CARD_1]',
      note: '[CARD_2]\n[PHONE_1]',
      n: 12,
    })
  })

  it('have no restorer when the project disables restoring', () => {
    const one = policyBy({ types: defaultTypes, input: true, toolArguments: true, restore: false, region: 'US' })
    expect(one.redact([ada])).toEqual({
      ...{ texts: ['[EMAIL_1]'], toolArguments: [], restorer: null, found: { email: 1 } },
      replacements: [{ value: ada, placeholder: '[EMAIL_1]', times: 1 }],
    })
  })
})

describe('restoring', () => {
  it.each([
    '[EMAIL_1]',
    '[email_1]',
    '[Email_1]',
    '[ EMAIL_1 ]',
    '[EMAIL 1]',
    '[EMAIL-1]',
    '\\[EMAIL_1\\]',
    '\\\\[EMAIL_1\\\\]',
    '\\u005bEMAIL_1\\u005d',
    '\\u005Bemail_1\\u005D',
    '[EMAIL_01]',
  ])('replaces %s with its value', (written) => {
    const restorer = restorerOf(ada)
    expect(restorer.restore(`to ${written}!`)).toBe(`to ${ada}!`)
    for (const length of [1, 2, 3, 7]) expect(inParts(restorer.fork(), `to ${written}!`, length)).toBe(`to ${ada}!`)
  })

  it.each([
    '[EMAIL_2]',
    '[EMAIL_]',
    '[PHONE_1]',
    '[EMAIL_1',
    'EMAIL_1]',
    '[[EMAIL]]',
    '[x](y)',
    'a[0]',
    '\\',
    'C:\\temp\\[1]',
  ])('leaves %s unchanged', (written) => {
    const restorer = restorerOf(ada)
    expect(restorer.restore(written)).toBe(written)
    for (const length of [1, 2, 5]) expect(inParts(restorer.fork(), written, length)).toBe(written)
  })

  it('restores each line of the corpus, at once and in parts of any length', () => {
    for (const { text } of corpus(defaultTypes)) {
      const { texts, restorer } = redact(text)
      const [redacted = ''] = texts
      if (restorer === null) expect(redacted).toBe(text)
      else {
        expect(restorer.restore(redacted)).toBe(text)
        for (const length of [1, 3, 8]) expect(inParts(restorer.fork(), redacted, length)).toBe(text)
      }
    }
  })

  it('follows a redaction that removes all personal data of the corpus', () => {
    for (const { text, found } of corpus(defaultTypes)) {
      const [redacted = ''] = redact(text).texts
      for (const { value } of found) expect(redacted).not.toContain(value)
    }
  })

  it('has the same result for any text and any split into parts', () => {
    const pieces = [
      '[',
      ']',
      '\\',
      'EMAIL',
      'email',
      'EM',
      'AIL',
      '_',
      '_1',
      '-1',
      '1',
      '0',
      ' ',
      'x',
      '\\u005b',
      'u0',
      '05d',
    ]
    const restorer = restorerOf(ada)
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 16 })
    const cuts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 })
    const property = fc.property(text, cuts, (written, lengths) => {
      const whole = written.join('')
      const part = restorer.fork()
      let out = ''
      for (let at = 0, n = 0; at < whole.length; n += 1) {
        const length = lengths[n % lengths.length] ?? 1
        out += part.push(whole.slice(at, at + length))
        at += length
      }
      expect(out + part.end()).toBe(restorer.restore(whole))
    })
    fc.assert(property, { numRuns: runsByDay(2000) })
  })

  it('keeps a backslash before a placeholder', () => {
    const path = 'C:\\users\\ada@example.com'
    const { texts, restorer } = redact(path)
    expect(texts).toEqual(['C:\\users\\[EMAIL_1]'])
    expect(restorer?.restore(texts[0] ?? '')).toBe(path)
  })

  it('passes on at once what cannot be a placeholder', () => {
    const restorer = restorerOf(ada)
    expect(['Hello ', 'world [1', '], [E', 'x] [EMAIL', '_1', ']', '.'].map((part) => restorer.push(part))).toEqual([
      'Hello ',
      'world [1',
      '], ',
      '[Ex] ',
      '',
      ada,
      '.',
    ])
  })

  it('keeps JSON valid and does not restore values that need an escape', () => {
    const key = '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----'
    const { texts, restorer } = redact(`${key} ${ada}`)
    expect(texts).toEqual(['[SECRET_1] [EMAIL_1]'])
    expect(JSON.parse(restorer?.restore('{"a":"[EMAIL_1]","b":"[SECRET_1]"}') ?? '')).toEqual({
      a: ada,
      b: '[SECRET_1]',
    })
  })

  it('returns letters unescaped that were escaped in JSON', () => {
    const placeholders = new Placeholders(findHits({ types: new Set(defaultTypes), region: 'US' }))
    expect(placeholders.redactJson(String.raw`{"a":"j\u00f6rg@example.com"}`)).toBe('{"a":"[EMAIL_1]"}')
    expect(placeholders.restorer().restore('[EMAIL_1]')).toBe('jörg@example.com')
  })
})
