import { expect, it } from 'vitest'
import { normalUrl, pageUrlOf } from '#src/pages/page-url.ts'
import { minCpuMs } from '#test/support/min-cpu-ms.ts'

const names = Array.from(
  { length: 200_000 },
  (_, n) => `utm_${n.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '')}`,
)

it('a URL of more than 4,096 characters is none of a page', () => {
  const url = `https://site.example/?${names.join('&')}`
  expect(pageUrlOf(url)).toBe('malformed')
  expect(pageUrlOf(`/?${'a'.repeat(4_100)}`, 'https://site.example/')).toBe('malformed')
  expect(pageUrlOf(`/?${'a'.repeat(4_000)}`, 'https://site.example/')).toBeInstanceOf(URL)
})

it('a URL is normalised in little time, however many tracking parameters it has', () => {
  const url = new URL(`https://site.example/?a=1&${names.join('&')}&a=2&utm_source=x`)
  expect(normalUrl(url)).toBe('https://site.example/?a=1&a=2')
  expect(minCpuMs(() => normalUrl(url))).toBeLessThan(1_000)
})
