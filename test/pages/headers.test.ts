import { describe, expect, it } from 'vitest'
import { storeRefusalOf } from '#src/pages/cache-control.ts'
import { retryAfterMs } from '#src/pages/retry-after.ts'

const now = Date.UTC(1994, 10, 6, 8, 49, 0)

describe('Retry-After', () => {
  it.each<readonly [string | null, number | null]>([
    ['0', 0],
    ['120', 120_000],
    [' 3 ', 3_000],
    ['1000000000', 1e12],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
    ['Sun Nov  6 08:49:37 1994', 37_000],
    ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
    ['Sun, 99 Nov 1994 08:00:00 GMT', null],
    ['-1', null],
    ['1.5', null],
    ['1e9', null],
    ['9'.repeat(400), null],
    ['soon', null],
    ['2030', 2_030_000],
    ['', null],
    [null, null],
  ])('of %j is %j ms', (header, ms) => {
    expect(retryAfterMs(header, now)).toBe(ms)
  })
})

describe('Cache-Control', () => {
  it.each<readonly [string | null, string | null]>([
    ['no-store', 'no_store'],
    ['max-age=0, No-Store', 'no_store'],
    ['private', 'private'],
    ['private, max-age=60', 'private'],
    ['private, no-store', 'no_store'],
    ['private="set-cookie", max-age=60', null],
    ['public, max-age=60', null],
    ['no-cache', null],
    ['x-no-store', null],
    [null, null],
  ])('of %j forbids storing: %j', (header, refusal) => {
    expect(storeRefusalOf(header)).toBe(refusal)
  })
})
