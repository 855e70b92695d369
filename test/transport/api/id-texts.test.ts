import { describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { holdsId, isIdText } from '#specs/dsl/id-text.ts'
import type { JsonSchema } from '#specs/dsl/schema.ts'
import { statusIn } from '#specs/errors/wire-errors.ts'
import { takesForms } from '#test/specs/sample-form.ts'
import { queryWith, sampleOf } from '#test/specs/samples.ts'
import { principals, serve } from './serving.ts'

/** Every place of every operation that contains an id, found by its name: no test here is written for one of them. */

const declared: readonly Operation[] = Object.values(operations)
const reached = async () => {
  throw new Error('reached')
}
const { send } = serve(declared, Object.fromEntries(declared.map(({ id }) => [id, reached])))

/** An e and a combining accent, which looks like é. */
const decomposed = 'e\u0301va'
const lone = 'ada-\ud800'
/** SQLite returns it as `ada`. */
const cut = 'ada\0eve'
/** URL parsers remove it with the segment before it. */
const parent = '..'

const holdsText = ({ type, items }: JsonSchema): boolean => [items?.type ?? type].flat().includes('string')

const target = (operation: Operation, param?: string, text = decomposed): string =>
  path(operation, param, text) + queryWith(operation)

const path = ({ paths }: Operation, param?: string, text = decomposed): string =>
  paths[0].replace(/\{(\w+)\}/g, (_, name: string) => (name === param ? encodeURIComponent(text) : 'some_id'))

const headers = { host: 'agents.example', 'sec-fetch-site': 'same-origin' }
const as = ({ access }: Operation) => principals[access.kinds[0] ?? 'public']

/** Every field of a body that contains an id, with a body in which it has this text. */
const bodiesWith = ({ body }: Operation, text: string) =>
  Object.entries(body?.json.properties ?? {})
    .filter(([name, field]) => holdsId(name) && holdsText(field))
    .map(([name, { items }]) => {
      const sample: object = Object(sampleOf(body?.json ?? {}))
      return { name, body: { ...sample, [name]: items === undefined ? text : [text] } }
    })

const inBodies = declared.filter(({ body }) => body !== null).filter((each) => !takesForms(each))

describe('a text that cannot be an id', () => {
  it.each(inBodies.filter((each) => bodiesWith(each, '').length > 0))(
    'is refused in the body of $id',
    async (operation) => {
      for (const text of [decomposed, lone, cut, parent]) {
        for (const { name, body } of bodiesWith(operation, text)) {
          const { status, text: answer } = await send({
            method: operation.method,
            target: target(operation),
            as: as(operation),
            headers,
            body,
          })
          expect([name, status]).toEqual([name, statusIn(operation.envelope, 'invalid_field')])
          expect(answer).toContain(name)
        }
      }
    },
  )

  const inQueries = declared.filter(({ query }) => Object.keys(query).some(holdsId))
  it.each(inQueries)('is refused in the query of $id', async (operation) => {
    for (const value of [decomposed, cut]) {
      for (const name of Object.keys(operation.query).filter(holdsId)) {
        const query = queryWith(operation, [`${name}=${encodeURIComponent(value)}`])
        const { status, text } = await send({ target: path(operation) + query, as: as(operation), headers })
        expect([name, status]).toEqual([name, 400])
        expect(text).toContain(name)
      }
    }
  })

  const inPaths = declared.filter(({ params, slashesInLast }) => params.length > 0 && !slashesInLast)
  it.each(inPaths)('is refused in the path of $id', async (operation) => {
    const body = operation.body === null ? {} : { body: sampleOf(operation.body.json) }
    for (const value of [decomposed, cut]) {
      for (const name of operation.params) {
        const at = target(operation, name, value)
        const { status, text } = await send({
          method: operation.method,
          target: at,
          as: as(operation),
          headers,
          ...body,
        })
        expect([name, status]).toEqual([name, statusIn(operation.envelope, 'invalid_field')])
        expect(text).toContain(name)
      }
    }
  })

  it('contains a lone surrogate or a control character, is not in normalization form C, or is a dot segment', () => {
    expect(['ada', 'éva', '小林', '👩‍🔬'].filter((text) => !isIdText(text))).toEqual([])
    expect(
      [lone, cut, decomposed, parent, '.', '\udc00a', '\u212b', 'a\nb', 'a\x7f', 'é\x85'].filter(isIdText),
    ).toEqual([])
  })
})
