import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '#outgoing/shares/json-body.ts'
import { parseInSteps } from '#outgoing/shares/parse-in-steps.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'
import { jsonSpans, shortSpans } from '#src/outgoing/shares/json-spans.ts'
import { countFields, fieldsIn } from '#src/outgoing/shares/repeated-names.ts'
import { runsByDay } from '#test/setup/at-night.ts'

const limits = { maxDepth: 64, maxWeight: 20_000 }

/** What `read` returns, or the class of what it throws. */
const outcome = (read: () => unknown): unknown => {
  try {
    return { value: read() }
  } catch {
    return 'refused'
  }
}

/** JSON with escapes, blanks and names such as `__proto__`; sometimes cut or with a byte changed. */
const texts = fc
  .tuple(
    fc.json({ depthSize: 'medium' }).map((text) => ` ${text.replaceAll(',', ' ,\n')}`),
    fc.constantFrom('whole', 'whole', 'whole', 'cut', 'changed'),
    fc.nat(),
    fc.nat(255),
  )
  .map(([text, damage, at, byte]) => {
    const bytes = Buffer.from(text.replaceAll('"a', '"\\u0061').replaceAll('"b', '"__proto__'))
    if (damage === 'cut') return bytes.subarray(0, at % (bytes.length + 1))
    if (damage === 'changed') bytes[at % bytes.length] = byte
    return bytes
  })

describe('a short JSON body', () => {
  it('has the structure, the fields and the value that the steps for long ones find', () => {
    fc.assert(
      fc.property(texts, (bytes) => {
        const { names, depth, weight } = atOnce(jsonSpans(bytes, limits))
        expect(shortSpans(bytes, limits)).toMatchObject({ names, depth, weight })
        const read = outcome(() => atOnce(parseInSteps(bytes, new Map())))
        if (read === 'refused') expect(outcome(() => parseJson(bytes))).toBe('refused')
        else expect(fieldsIn(objectIn(read))).toBe(atOnce(countFields(objectIn(read))))
      }),
      { numRuns: runsByDay(2_000) },
    )
  })

  it('is refused exactly when it is no JSON, no UTF-8, or repeats a name', () => {
    fc.assert(
      fc.property(texts, (bytes) => {
        const text = bytes.toString()
        const isText = Buffer.from(text).equals(bytes)
        const plain = outcome(() => JSON.parse(text))
        const { names } = shortSpans(bytes, limits)
        const isRepeated = plain !== 'refused' && fieldsIn(objectIn(plain)) < names
        expect(outcome(() => parseJson(bytes))).toEqual(isText && !isRepeated ? plain : 'refused')
      }),
      { numRuns: runsByDay(2_000) },
    )
  })

  it('is refused when a name is repeated in any of its objects, also escaped', () => {
    for (const json of ['{"a":1,"a":2}', '[{"b":{"a":1,"\\u0061":2}}]', '{"x":[1,{"y":null,"y":null}]}'])
      expect(outcome(() => parseJson(Buffer.from(json)))).toBe('refused')
  })
})

const objectIn = (read: unknown): unknown => (typeof read === 'object' && read !== null ? Object.values(read)[0] : read)
