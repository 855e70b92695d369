import { describe, expect, it } from 'vitest'
import { ArgumentsRefused, buildRequest } from '#actors/connections/tools/call-operation.ts'
import type { HttpOperation } from '#actors/connections/tools/http-operation.ts'

const operation: HttpOperation = {
  name: 'read',
  description: '',
  method: 'GET',
  path: '/rows/{id}',
  parameters: { type: 'object', properties: { id: {}, q: {}, 'X-Mode': {} }, required: ['id'] },
  places: { id: 'path', q: 'query', 'X-Mode': 'header' },
  whole_body: null,
  encoding: 'json',
  risk_level: 'low',
}
const base = 'https://api.example/v1'
const urlOf = (args: Readonly<Record<string, string>>) => buildRequest(operation, base, args).url

describe('arguments of a model', () => {
  it.each(['', '.', '..', '\ud800', 'a\udc00'])('that cannot be a segment of a path are refused: %j', (id) => {
    expect(() => urlOf({ id })).toThrow(ArgumentsRefused)
  })

  it.each([
    ['../admin', '/v1/rows/..%2Fadmin'],
    ['a?b=c#d', '/v1/rows/a%3Fb%3Dc%23d'],
    ['%2e%2e', '/v1/rows/%252e%252e'],
    ['\\..\\', '/v1/rows/%5C..%5C'],
    ['@evil.example', '/v1/rows/%40evil.example'],
  ])('never leave their segment: %j', (id, path) => {
    expect(urlOf({ id })).toBe(`https://api.example${path}`)
  })

  it('stay within their field of a query', () => {
    expect(urlOf({ id: '1', q: 'x&admin=true#y\r\nz' })).toBe(`${base}/rows/1?q=x%26admin%3Dtrue%23y%0D%0Az`)
  })

  it.each(['a\r\nx: y', '\u0000', 'é', ' a'])('are refused as a header if they are not a valid value: %j', (mode) => {
    expect(() => buildRequest(operation, base, { id: '1', 'X-Mode': mode })).toThrow(ArgumentsRefused)
  })
})
