import { describe, expect, it } from 'vitest'
import { parseJson } from '#outgoing/shares/json-body.ts'
import { formFields } from '#specs/dsl/query.ts'
import { integer, object } from '#specs/dsl/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { envelop } from '#transport/api/envelopes.ts'

const caught = (fails: () => unknown): ServiceError => {
  try {
    fails()
  } catch (error) {
    if (error instanceof ServiceError) return error
  }
  throw new Error('nothing was thrown')
}

describe('a service error', () => {
  it('keeps the error that it replaces as its cause', () => {
    expect(caught(() => parseJson(Buffer.from('{"a":'))).cause).toBeInstanceOf(SyntaxError)
    const { json } = object({ size: integer() })
    expect(caught(() => formFields(json, [['size', 'large']])).cause).toMatchObject({ code: 'invalid_query' })
  })

  it('has no cause unless one is given', () => {
    expect('cause' in new ServiceError('not_found', { param: 'id' })).toBe(false)
  })

  it.each(['missing_field', 'unknown_field', 'invalid_field', 'invalid_query', 'invalid_header'] as const)(
    'names the parameter in the message of %s, unless it has its own message',
    (code) => {
      expect(new ServiceError(code, { param: 'messages' }).message).toMatch(/\w: messages\.$/)
      expect(new ServiceError(code, { param: 'a', message: 'Send b.' }).message).toBe('Send b.')
      expect(new ServiceError(code, { param: 'x'.repeat(10_000) }).message.length).toBeLessThan(200)
      expect(new ServiceError(code).message).not.toContain(':')
    },
  )

  it('does not name the parameter in the message of not_found', () => {
    expect(new ServiceError('not_found', { param: 'ses_1' }).message).toBe('The resource does not exist.')
  })

  it.each(['platform', 'openai', 'memory', 'flat', 'web', 'anthropic', 'custom_providers'] as const)(
    'does not reveal its cause to callers of the family %s',
    (family) => {
      const cause = new Error('password=hunter2')
      const error = new ServiceError('internal_error', { param: 'a', extra: { used: 1 }, cause })
      expect(JSON.stringify([envelop(family, error, 'req_1').body, error.details])).not.toContain('hunter2')
    },
  )
})
