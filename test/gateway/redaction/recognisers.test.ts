import { describe, expect, it } from 'vitest'
import { findPersonalData } from '#gateway/redaction/find-personal-data.ts'
import { defaultTypes, type PiiType } from '#specs/resources/gateway/redaction.ts'
import { drawnOf } from '#test/setup/at-night.ts'
import { corpus } from './corpus.ts'

const sought = { types: new Set(defaultTypes), region: 'US' }

const found = (text: string, region = 'US', types: readonly PiiType[] = defaultTypes) =>
  findPersonalData(text, { types: new Set(types), region }).map(({ start, end, type }) => ({
    type,
    value: text.slice(start, end),
  }))

const labelled = corpus(defaultTypes)

/** For each type, the recall and the precision on the corpus. */
const table = () =>
  defaultTypes.map((type) => {
    const wanted = labelled.flatMap((line) =>
      line.found.filter((each) => each.type === type).map(({ value }) => ({ line: line.text, value })),
    )
    const got = labelled.flatMap((line) =>
      found(line.text)
        .filter((each) => each.type === type)
        .map(({ value }) => ({ line: line.text, value })),
    )
    const same = (a: { line: string; value: string }) => (b: { line: string; value: string }) =>
      a.line === b.line && a.value === b.value
    const missed = wanted.filter((each) => !got.some(same(each)))
    const wrong = got.filter((each) => !wanted.some(same(each)))
    return {
      type,
      labelled: wanted.length,
      recall: (wanted.length - missed.length) / wanted.length,
      precision: (got.length - wrong.length) / Math.max(1, got.length),
      missed,
      wrong,
    }
  })

describe('recognisers', () => {
  it.each(table())('find $type with recall and precision of 1 on the corpus ($labelled labelled)', (row) => {
    expect(row.labelled).toBeGreaterThanOrEqual(6)
    expect(row).toMatchObject({ missed: [], wrong: [], recall: 1, precision: 1 })
  })

  it('find nothing in lines of look-alikes', () => {
    const lookalikes = labelled.filter((line) => line.found.length === 0)
    expect(lookalikes.length).toBeGreaterThan(90)
    expect(lookalikes.filter(({ text }) => found(text).length > 0)).toEqual([])
  })

  it('recognise national phone numbers of the region', () => {
    expect(found('Bitte 030 901820 wählen', 'DE')).toEqual([{ type: 'phone', value: '030 901820' }])
    expect(found('Bitte 030 901820 wählen', 'US')).toEqual([])
  })

  it('find only the requested types', () => {
    expect(found('a@example.com, +1 415 555 2671', 'US', ['phone'])).toEqual([
      { type: 'phone', value: '+1 415 555 2671' },
    ])
  })

  it('report overlapping hits once, as one range', () => {
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2ln'
    expect(found(`Bearer ${token}~x`)).toEqual([{ type: 'secret', value: `${token}~x` }])
    const [hit, ...more] = found('mail 4111111111111111@example.com')
    expect([hit?.value, more]).toEqual(['4111111111111111@example.com', []])
  })

  it('find a private key up to its last line or the end of the text', () => {
    const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/=\n-----END RSA PRIVATE KEY-----'
    expect(found(`x ${key} y`)).toEqual([{ type: 'secret', value: key }])
    expect(found(`x ${key.slice(0, 50)}`)).toEqual([{ type: 'secret', value: key.slice(0, 50) }])
  })

  it('skip data: URLs and long base64', () => {
    const base64 = `${'iVBORw0KGgo+14155552671/'.repeat(20)}==`
    const text = `data:image/png;base64,+14155552671,${'A'.repeat(4)} ${base64} data:audio/wav;codecs=1;base64,${base64}`
    expect(found(text).filter(({ value }) => base64.includes(value))).toEqual([])
    expect(found(`${base64} a@example.com`)).toEqual([{ type: 'email', value: 'a@example.com' }])
  })

  it('find values after a JSON escape and values with escaped letters', () => {
    expect(found(String.raw`{"a":"x\na@example.com\tb@example.com"}`).map(({ value }) => value)).toEqual([
      'a@example.com',
      'b@example.com',
    ])
    expect(found(String.raw`{"a":"j\u00f6rg@example.com"}`).map(({ value }) => value)).toEqual([
      String.raw`j\u00f6rg@example.com`,
    ])
    const card = String.raw`4242\u00a04242\u00a04242\u00a04242`
    for (const each of [card, card.replaceAll('\\', '\\\\'), String.raw`frank\u0040example.com`])
      expect(found(`{"a":"${each}"}`).map(({ value }) => value)).toEqual([each])
  })

  it('leave what is invisible around a value where it is', () => {
    expect(found('\u200b+1\u200b 415\u00ad-555-2671\u200b.')).toEqual([
      { type: 'phone', value: '+1\u200b 415\u00ad-555-2671' },
    ])
  })
})

const hostile: Readonly<Record<string, string>> = {
  'signs of addresses': '@',
  'beginnings of addresses': 'a@',
  'long words before an @': `${'a.'.repeat(200)}@`,
  digits: '1',
  'digits with gaps': '1 ',
  'phone numbers': '(415) 555-2671, ',
  'numbers with a prefix': '+1 415 555 2671 ',
  parentheses: '(1',
  'card numbers': '4111 1111 1111 1112 ',
  'beginnings of tokens': 'eyJ',
  'tokens without an end': 'eyJaaaaaaaaaaaaaa.',
  'beginnings of keys': 'sk-',
  'private keys without an end': '-----BEGIN PRIVATE KEY-----',
  colons: ':',
  slashes: '://a:',
  'beginnings of accounts': 'DE89 ',
  'data: URLs': 'data:a/b;base64,',
  'almost base64': `${'A'.repeat(255)} `,
  'names of secrets': 'token=token-',
  passwords: 'password=a1 ',
  backslashes: '\\',
  escapes: '\\u0040',
  'no-break spaces': '\u00a01',
  'invisible signs': '\u200b1',
  'encoded blanks': '1%20',
  'encoded signs': '%40',
  'spelled signs': 'a[at]',
  'letters beside digits': '电1',
  'words for a number': 'personnummer 811218987 ',
  'words for a password': 'password: a',
  'commands with a user': 'curl -u a:',
}

describe('the time of the recognisers', () => {
  const cpuMs = (work: () => void): number => {
    const startedAt = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(startedAt)
    return (user + system) / 1000
  }

  it.each(drawnOf(Object.entries(hostile), 3))(
    'does not grow quadratically with a text of %s',
    (_, unit) => {
      const textOf = (length: number) => unit.repeat(Math.ceil(length / unit.length))
      const ratio = () => {
        const small = cpuMs(() => findPersonalData(textOf(2 ** 16), sought))
        return cpuMs(() => findPersonalData(textOf(2 ** 20), sought)) / Math.max(small, 4)
      }
      // The text is 16 times as long, so that a quadratic pattern would take 256 times as long. The second attempt
      // excludes the time of compilation.
      const first = ratio()
      expect(first < 100 ? first : ratio()).toBeLessThan(100)
    },
    180_000,
  )
})
