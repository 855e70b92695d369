import { describe, expect, it } from 'vitest'
import { ownVia, viaBehind, viaOf } from '#outgoing/via.ts'

describe('the servers that a request came through', () => {
  it.each([
    ['nobody', undefined],
    ['proxies of others', '1.1 google, HTTP/1.1 cache.example (squid/6.1)'],
    ['one that is called alike', '1.1 troupe.example, 1.1 my-troupe'],
    ['nothing that can be read', ',, troupe ,'],
  ])('are as if it began here, when there is %s', (_, via) => {
    expect(viaBehind(via)).toBeUndefined()
  })

  it.each([
    ['1.1 troupe', 2],
    ['HTTP/1.1 Troupe (behind a wall), 1.1 nginx', 2],
    ['1.1 google,1.1 troupe,  1.1 troupe', 3],
    ['1.1 troupe, 2 troupe, 1.1 troupe', 4],
  ])('are handed on, and one more: %s', (via, hops) => {
    expect(viaBehind(via)).toBe(Array.from({ length: hops }, () => '1.1 troupe').join(', '))
  })

  it('are no more than four', () => {
    expect(() => viaBehind('1.1 troupe, 1.1 troupe, 1.1 nginx, 1.1 troupe, 1.1 troupe')).toThrow(
      expect.objectContaining({ code: 'request_loop' }),
    )
  })

  it('stand in requests to providers, whoever asks', () => {
    expect([viaOf({}), viaOf({ via: undefined }), viaOf({ via: '1.1 troupe, 1.1 troupe' })]).toEqual([
      ownVia,
      ownVia,
      '1.1 troupe, 1.1 troupe',
    ])
  })
})
