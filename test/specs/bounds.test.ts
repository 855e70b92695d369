import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { bounds } from '#specs/bounds.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { requestValidator } from '#specs/dsl/validate.ts'
import { maxMetadataBytes } from '#specs/tools.ts'
import { countedBytes } from '#transport/api/body/body-memory.ts'

/** Operations with APIs of other providers, to which their metadata is passed on. */
const gateway = /^(responses|conversations|messages|chat_completions|vector_stores|batches)\./

const textOf = (path: string): string => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8')

it.each(bounds.map((bound) => [bound.of, bound] as const))('the bound of %s has its code and its test', (_, bound) => {
  const [codePath, name] = bound.code
  const [testPath, title] = bound.test
  expect(textOf(codePath)).toContain(name)
  expect(textOf(testPath)).toContain(`'${title}'`)
})

it('public operations accept only bodies below the size that is counted against the memory limit', () => {
  const all: readonly Operation[] = Object.values(operations)
  const read = all.filter(({ access, body }) => access.kinds.includes('public') && body !== null)
  expect(read.map(({ id }) => id)).toContain('auth.login')
  for (const { id, maxBodyBytes } of read) expect(maxBodyBytes, id).toBeLessThan(countedBytes)
})

it('takes metadata of 16 KB, and no byte more', () => {
  const all: readonly Operation[] = Object.values(operations)
  const bounded = all.filter(({ body }) => body?.json.properties?.metadata?.['x-max-bytes'] === maxMetadataBytes)
  const named = all.filter(({ body, id }) => body?.json.properties?.metadata !== undefined && !gateway.test(id))
  expect(bounded.map(({ id }) => id)).toEqual(named.map(({ id }) => id))
  const sessions = operations['sessions.create']
  const check = (length: number) => {
    const value = { metadata: { a: 'x'.repeat(length - JSON.stringify({ a: '' }).length) } }
    requestValidator(sessions).body(value)
    return JSON.stringify(value.metadata).length
  }
  expect(check(maxMetadataBytes)).toBe(maxMetadataBytes)
  expect(() => check(maxMetadataBytes + 1)).toThrow(
    expect.objectContaining({ code: 'invalid_field', details: expect.objectContaining({ param: 'metadata' }) }),
  )
})
