import { expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { answerForm, requestForm, schemaFault } from '#specs/dsl/ajv.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { object } from '#specs/dsl/schema.ts'

const declared = Object.values<Operation>(operations)

it('the schemas of every operation conform to the meta-schema, which a start does not check', () => {
  const schemas = declared.flatMap(({ id, body, query, answer, unknownFields }) => [
    ...(body === null ? [] : [{ id, schema: requestForm(body.json, unknownFields) }]),
    ...(answer.kind === 'json' ? [{ id, schema: answerForm(answer.schema.json) }] : []),
    { id, schema: object(query).json },
  ])
  const faults = schemas.map(({ id, schema }) => ({ id, fault: schemaFault(schema) }))
  expect(faults.filter(({ fault }) => fault !== null)).toEqual([])
})

it('an invalid schema is reported', () => {
  expect(schemaFault({ type: 'array', minItems: -1 })).toContain('minItems')
})
