import { describe, expect, it } from 'vitest'
import { ServiceError } from '#specs/errors/errors.ts'
import { refuseCrossSite } from '#transport/api/credentials/csrf.ts'

const judged = (headers: Readonly<Record<string, string>>, publicOrigin: string | null): string => {
  const request = { header: (name: string) => headers[name] }
  try {
    refuseCrossSite(request, publicOrigin)
    return 'taken'
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error)
  }
}

describe('a request with the cookie of the dashboard', () => {
  const host = 'troupe.example'

  it.each([
    ['https://troupe.example', 'taken'],
    ['http://troupe.example', 'taken'],
    ['null', 'csrf_refused'],
    ['', 'csrf_refused'],
    ['https://troupe.example.evil.example', 'csrf_refused'],
    ['https://eviltroupe.example', 'csrf_refused'],
    ['https://troupe.example/', 'csrf_refused'],
    ['https://troupe.example, https://evil.example', 'csrf_refused'],
  ])('from %j is %s if no origin is configured', (origin, expected) => {
    expect(judged({ host, origin }, null)).toBe(expected)
  })

  it('from the same host without TLS is refused if the public origin has TLS', () => {
    const page = { host, origin: 'http://troupe.example' }
    expect(judged(page, 'https://troupe.example')).toBe('csrf_refused')
    expect(judged({ ...page, host: 'TROUPE.example' }, 'https://troupe.example')).toBe('csrf_refused')
    expect(judged({ ...page, origin: 'https://troupe.example' }, 'https://troupe.example')).toBe('taken')
  })

  it('from the internal host name of the server is accepted in addition to the public origin', () => {
    const page = { host: '10.0.0.7:8080', origin: 'http://10.0.0.7:8080' }
    expect(judged(page, 'https://troupe.example')).toBe('taken')
  })

  it('is judged without the headers of proxies', () => {
    const forwarded = { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example;proto=https' }
    expect(judged({ ...forwarded, host, origin: 'https://evil.example' }, null)).toBe('csrf_refused')
  })
})
