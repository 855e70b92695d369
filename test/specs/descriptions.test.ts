import { expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'

const declared: readonly (readonly [string, Operation])[] = Object.entries(operations)

/** Descriptions that are no whole sentence, or only repeat the summary. */
const isPoor = ({ description, summary }: Operation): boolean =>
  description === null ||
  !/[.):]$/.test(description) ||
  description.split(/\s+/).length < 3 ||
  description.includes(`${summary}.`)

it('describes every operation in whole sentences that its summary does not say', () => {
  expect(declared.filter(([, operation]) => isPoor(operation)).map(([id]) => id)).toEqual([])
})

it('names only operations that exist', () => {
  const resources = new Set(declared.map(([id]) => id.split('.')[0]))
  const named = declared.flatMap(([id, { description }]) =>
    [...(description ?? '').matchAll(/`([a-z_]+)\.([a-z_]+)`/g)].map(([, resource, verb]) => ({ id, resource, verb })),
  )
  const wrong = named.filter(({ resource, verb }) => resources.has(resource) && !(`${resource}.${verb}` in operations))
  expect(wrong).toEqual([])
})
