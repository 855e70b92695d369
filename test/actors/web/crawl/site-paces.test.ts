import { expect, it } from 'vitest'
import { maxPaces, SitePaces } from '#actors/web/crawl/site-paces.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { allowsAll, maxDelayMs, robotsOf } from '#src/pages/robots.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const { signal } = new AbortController()
const pacesOf = (clock: VirtualClock, delayMs: number) =>
  new SitePaces({ robots: { of: async () => ({ ...allowsAll, delayMs }) }, clock })

it('pages of a site are read at its crawl delay, and those of other sites at once', async () => {
  const clock = new VirtualClock()
  const paces = pacesOf(clock, 2_000)
  const done: string[] = []
  const turn = (name: string, url: string) => paces.turn(url, signal).then(() => done.push(name))
  const all = [turn('a', 'https://a.example/1'), turn('b', 'https://a.example/2'), turn('c', 'https://a.example/3')]
  const other = turn('other', 'https://b.example/')
  await clock.advance(10)
  expect(done.toSorted()).toEqual(['a', 'other'])
  await clock.advance(2_000)
  expect(done.toSorted()).toEqual(['a', 'b', 'other'])
  await clock.advance(2_000)
  await Promise.all([...all, other])
  expect(done.at(-1)).toBe('c')
})

it('a turn that would come too late is refused and not taken', async () => {
  const clock = new VirtualClock()
  const paces = pacesOf(clock, 5_000)
  const until = clock.steady() + 4_000
  expect(await paces.turn('https://a.example/', signal, until)).toBe(true)
  expect(await paces.turn('https://a.example/', signal, until)).toBe(false)
  await clock.advance(5_000)
  expect(await paces.turn('https://a.example/', signal)).toBe(true)
})

it('a site without a delay, an unreachable site and an invalid URL need no wait', async () => {
  const clock = new VirtualClock()
  const paces = pacesOf(clock, 0)
  const urls = ['https://a.example/', 'https://a.example/', 'nothing']
  expect(await Promise.all(urls.map((url) => paces.turn(url, signal)))).toEqual([true, true, true])
  const refusing = new SitePaces({
    robots: { of: () => Promise.reject(new ServiceError('dns_unavailable')) },
    clock,
  })
  expect(await refusing.turn('https://a.example/', signal)).toBe(true)
})

it('the pace of the oldest of 10,000 sites is forgotten', async () => {
  const clock = new VirtualClock()
  const paces = pacesOf(clock, 1_000)
  for (let n = 0; n <= maxPaces; n += 1) await paces.turn(`https://h${n}.example/`, signal)
  expect(await paces.turn('https://h0.example/', signal, clock.steady())).toBe(true)
  expect(await paces.turn(`https://h${maxPaces}.example/`, signal, clock.steady())).toBe(false)
})

it.each([
  ['User-agent: *\nCrawl-delay: 2\nDisallow: /x', 2_000],
  ['User-agent: *\nCrawl-delay: 2\n\nUser-agent: TroupeBot\nDisallow: /x', 0],
  ['User-agent: TroupeBot\nCrawl-delay: 0.5', 500],
  ['User-agent: other\nCrawl-delay: 5', 0],
  ['User-agent: *\nCrawl-delay: 86400', maxDelayMs],
  ['User-agent: *\nCrawl-delay: -1', 0],
  ['User-agent: *\nCrawl-delay: 1e9', 0],
  ['Crawl-delay: 4', 0],
])('the pace of %j is %i ms', (text, delayMs) => {
  expect(robotsOf(text, 'TroupeBot').delayMs).toBe(delayMs)
})
