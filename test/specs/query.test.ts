import { describe, expect, it } from 'vitest'
import { formFields } from '#specs/dsl/query.ts'
import { array, boolean, object, optional, string } from '#specs/dsl/schema.ts'

const { json } = object({ model: string(), diarize: optional(boolean()), tags: array(string()) })

describe('the fields of a form', () => {
  it('have the declared types', () => {
    const fields = [
      ['model', 'm'],
      ['diarize', 'true'],
      ['tags', 'a,b'],
      ['tags', 'c'],
    ] as const
    expect(formFields(json, fields)).toEqual({ model: 'm', diarize: true, tags: ['a', 'b', 'c'] })
  })

  it('with one value may be given once', () => {
    const fields = [
      ['model', 'a'],
      ['model', 'b'],
    ] as const
    const refusal = { code: 'invalid_field', details: { param: 'model', message: 'model may be given once.' } }
    expect(() => formFields(json, fields)).toThrowError(expect.objectContaining(refusal))
  })

  it('that are not declared may be repeated', () => {
    const fields = [
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
    ] as const
    expect(Object.keys(formFields(json, fields))).toEqual(['timestamp_granularities[]'])
  })
})
