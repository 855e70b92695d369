import { describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { corsHeaders, isPreflight, preflightHeaders } from '#transport/cors.ts'

const origin = 'https://app.example'

describe('CORS', () => {
  it('is answered by every operation that browsers have credentials for, and by none for other keys only', () => {
    const isForPages = ({ access: { kinds, publicKeys } }: Operation) =>
      publicKeys === true || kinds.includes('client_token')
    const declared = Object.values<Operation>(operations).filter(({ access: { kinds } }) => !kinds.includes('public'))
    expect(declared.filter((each) => each.cors !== isForPages(each)).map(({ id }) => id)).toEqual([])
  })

  it('lets an allowed origin read the response of a CORS route', () => {
    const headers = Object.fromEntries(corsHeaders({ answers: true, origin, allowed: true }))
    expect(headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin' })
    expect(headers['access-control-expose-headers']).toContain('x-request-id')
  })

  it.each([
    ['another origin', { answers: true, origin, allowed: false }, [['vary', 'Origin']]],
    ['no origin', { answers: true, origin: undefined, allowed: true }, [['vary', 'Origin']]],
    ['a secret-key route', { answers: false, origin, allowed: true }, []],
  ])('allows nothing to %s', (_, question, headers) => {
    expect(corsHeaders(question)).toEqual(headers)
    expect(preflightHeaders(question, ['GET'])).toBeNull()
  })

  it('answers a preflight request with the methods of the path and the headers that clients send', () => {
    const headers = Object.fromEntries(
      preflightHeaders({ answers: true, origin, allowed: true }, ['GET', 'POST']) ?? [],
    )
    expect(headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST',
      vary: 'Origin, Access-Control-Request-Headers',
    })
    for (const name of ['authorization', 'content-type', 'idempotency-key', 'last-event-id']) {
      expect(headers['access-control-allow-headers']).toContain(name)
    }
  })

  it('allows the headers that a page requests', () => {
    const requested = 'authorization,content-type,x-stainless-lang, x-stainless-os,anthropic-version,traceparent'
    const headers = Object.fromEntries(
      preflightHeaders({ answers: true, origin, allowed: true }, ['POST'], requested) ?? [],
    )
    expect(headers['access-control-allow-headers']).toBe(requested)
  })

  it.each(['', 'x-a, ', 'x-a: 1', 'x-ä', `x-${'a'.repeat(5000)}`])(
    'does not return an invalid list of headers: %j',
    (requested) => {
      const headers = Object.fromEntries(
        preflightHeaders({ answers: true, origin, allowed: true }, ['POST'], requested) ?? [],
      )
      expect(headers['access-control-allow-headers']).toMatch(/^authorization, content-type, /)
    },
  )

  it('exposes the headers about rate limits, the provider, retries and the time', () => {
    const headers = Object.fromEntries(corsHeaders({ answers: true, origin, allowed: true }))
    const exposed = headers['access-control-expose-headers']?.split(', ')
    const some = ['date', 'retry-after', 'x-should-retry', 'x-provider', 'x-ratelimit-remaining-requests']
    expect(exposed).toEqual(expect.arrayContaining(some))
  })

  it('never allows credentials', () => {
    const question = { answers: true, origin, allowed: true }
    const names = [...corsHeaders(question), ...(preflightHeaders(question, ['GET']) ?? [])].map(([name]) => name)
    expect(names).not.toContain('access-control-allow-credentials')
  })

  it('distinguishes a preflight request from a plain OPTIONS', () => {
    const headers = new Map([
      ['origin', origin],
      ['access-control-request-method', 'POST'],
    ])
    const get = (name: string): string | undefined => headers.get(name)
    expect([isPreflight('OPTIONS', get), isPreflight('POST', get), isPreflight('OPTIONS', () => undefined)]).toEqual([
      true,
      false,
      false,
    ])
  })
})
