import { expect, it } from 'vitest'
import { HostTurns } from '#actors/web/crawl/host-turns.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { allowsAll, maxDelayMs, robotsOf } from '#src/pages/robots.ts'
import { LocalTurns } from '#storage/local-turns.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const { signal } = new AbortController()
const nothing = (): void => {}

interface Options {
  readonly crawlDelayMs?: number
  readonly atOnce?: number
  readonly delayMs?: number
}

const turnsOf = (clock: VirtualClock, { crawlDelayMs = 0, atOnce = 2, delayMs = 0 }: Options = {}) =>
  new HostTurns({
    ...{ clock, turns: new LocalTurns(clock), pace: { atOnce, delayMs } },
    robots: { of: async () => ({ ...allowsAll, delayMs: crawlDelayMs }) },
  })

it('pages of a site are read at its crawl delay, one at a time, and those of other sites at once', async () => {
  const clock = new VirtualClock()
  const turns = turnsOf(clock, { crawlDelayMs: 2_000 })
  const done: string[] = []
  const read = async (name: string, url: string): Promise<void> => {
    const turn = await turns.enter(new URL(url), { job: 'a', signal })
    done.push(name)
    if (turn.kind === 'taken') turn.leave()
  }
  const all = ['a', 'b', 'c'].map((name) => read(name, `https://a.example/${name}`))
  const other = read('other', 'https://b.example/')
  await clock.advance(10)
  expect(done.toSorted()).toEqual(['a', 'other'])
  await clock.advance(2_100)
  expect(done.toSorted()).toEqual(['a', 'b', 'other'])
  await clock.advance(2_100)
  await Promise.all([...all, other])
  expect(done.at(-1)).toBe('c')
})

it('a host gets no more requests at a time than allowed, whatever the number of crawls, and they take turns', async () => {
  const clock = new VirtualClock()
  const turns = turnsOf(clock)
  const order: string[] = []
  const seen: number[] = []
  const open = new Set<string>()
  const read = async (job: string, n: number): Promise<void> => {
    const turn = await turns.enter(new URL('https://a.example/'), { job, signal })
    if (turn.kind !== 'taken') throw new Error(turn.kind)
    order.push(job)
    seen.push(open.add(`${job}${n}`).size)
    await new Promise<void>((resolve) => clock.after(50, resolve))
    open.delete(`${job}${n}`)
    turn.leave()
  }
  const all = ['a', 'b', 'c', 'd', 'e'].flatMap((job) => Array.from({ length: 8 }, (_, n) => read(job, n)))
  await clock.advance(20_000)
  await Promise.all(all)
  expect(Math.max(...seen)).toBe(2)
  // every crawl is served once before one is served again
  for (let from = 0; from < order.length; from += 5)
    expect(new Set(order.slice(from, from + 5)).size, order.join('')).toBe(5)
})

it('requests to a host begin at least the configured delay apart', async () => {
  const clock = new VirtualClock()
  const turns = turnsOf(clock, { delayMs: 200 })
  const times: number[] = []
  const all = Array.from({ length: 6 }, async (_, n) => {
    const turn = await turns.enter(new URL('https://a.example/'), { job: `j${n % 2}`, signal })
    times.push(clock.steady())
    if (turn.kind === 'taken') turn.leave()
  })
  await clock.advance(5_000)
  await Promise.all(all)
  for (const [n, time] of times.entries()) if (n > 0) expect(time - (times[n - 1] ?? 0)).toBeGreaterThanOrEqual(200)
})

it('a turn that would come too late is refused and not taken', async () => {
  const clock = new VirtualClock()
  const turns = turnsOf(clock, { crawlDelayMs: 5_000 })
  const enter = (until?: number) =>
    turns.enter(new URL('https://a.example/'), { job: 'a', signal, ...(until !== undefined && { until }) })
  const until = clock.steady() + 4_000
  expect((await enter(until)).kind).toBe('taken')
  const late = enter(until)
  await clock.advance(4_200)
  expect((await late).kind).toBe('late')
})

it('a postponed host gives requests back at once, and serves them again afterwards', async () => {
  const clock = new VirtualClock()
  const turns = turnsOf(clock)
  const url = new URL('https://a.example/')
  await turns.postpone(url, 1e12)
  const kinds = await Promise.all(['a', 'b'].map((job) => turns.enter(url, { job, signal })))
  expect(kinds).toEqual([
    { kind: 'postponed', ms: 3_600_000 },
    { kind: 'postponed', ms: 3_600_000 },
  ])
  await clock.advance(3_600_001)
  expect((await turns.enter(url, { job: 'a', signal })).kind).toBe('taken')
})

it('a request that is aborted leaves the line, and others go on', async () => {
  const clock = new VirtualClock()
  const turns = turnsOf(clock, { atOnce: 1 })
  const url = new URL('https://a.example/')
  const first = await turns.enter(url, { job: 'a', signal })
  const gone = new AbortController()
  const aborted = turns.enter(url, { job: 'b', signal: gone.signal }).then(nothing, (error: unknown) => error)
  const last = turns.enter(url, { job: 'c', signal })
  await clock.advance(50)
  gone.abort(new Error('gone'))
  expect(await aborted).toEqual(new Error('gone'))
  if (first.kind === 'taken') first.leave()
  await clock.advance(200)
  expect((await last).kind).toBe('taken')
})

it('a site whose rules cannot be read needs no wait, as the request of the page fails with the reason', async () => {
  const clock = new VirtualClock()
  const robots = { of: () => Promise.reject(new ServiceError('dns_unavailable')) }
  const turns = new HostTurns({ robots, clock, turns: new LocalTurns(clock), pace: { atOnce: 1, delayMs: 0 } })
  expect((await turns.enter(new URL('https://a.example/'), { job: 'a', signal })).kind).toBe('taken')
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
