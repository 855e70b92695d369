import { describe, expect, it } from 'vitest'
import { ownVia, viaBehind, viaOf } from '#outgoing/via.ts'

describe('the Via header of a request to a provider', () => {
  it.each([
    ['no proxy', undefined],
    ['proxies of others', '1.1 google, HTTP/1.1 cache.example (squid/6.1)'],
    ['proxies with similar names', '1.1 troupe.example, 1.1 my-troupe'],
    ['nothing that can be read', ',, troupe ,'],
  ])('counts no earlier Troupe hop if the request came through %s', (_, via) => {
    expect(viaBehind(via)).toBeUndefined()
  })

  it.each([
    ['1.1 troupe', 2],
    ['HTTP/1.1 Troupe (behind a wall), 1.1 nginx', 2],
    ['1.1 google,1.1 troupe,  1.1 troupe', 3],
    ['1.1 troupe, 2 troupe, 1.1 troupe', 4],
  ])('adds one hop to the incoming %s', (via, hops) => {
    expect(viaBehind(via)).toBe(Array.from({ length: hops }, () => '1.1 troupe').join(', '))
  })

  it('has at most four hops, and more are a request_loop error', () => {
    expect(() => viaBehind('1.1 troupe, 1.1 troupe, 1.1 nginx, 1.1 troupe, 1.1 troupe')).toThrow(
      expect.objectContaining({ code: 'request_loop' }),
    )
  })

  it('has one hop for a request without hops, and the hops of the request otherwise', () => {
    expect([viaOf({}), viaOf({ via: undefined }), viaOf({ via: '1.1 troupe, 1.1 troupe' })]).toEqual([
      ownVia,
      ownVia,
      '1.1 troupe, 1.1 troupe',
    ])
  })
})
