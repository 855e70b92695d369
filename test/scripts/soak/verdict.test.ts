import { describe, expect, it } from 'vitest'
import { type SoakWindow, trendsOf } from '#scripts/soak/verdict.ts'

const steady: SoakWindow = {
  turns: 200,
  failures: 0,
  p99: 100,
  rssMb: 200,
  handles: 60,
  openCommits: 2,
  bytesPerTurn: 4000,
}
const soak = (change: (at: number) => Partial<SoakWindow>, minutes = 60) =>
  Object.fromEntries(
    trendsOf(
      Array.from({ length: 12 }, (_, at) => ({ ...steady, ...change(at) })),
      minutes,
    ).map(({ name, holds }) => [name, holds]),
  )

describe('a soak test', () => {
  it('passes when nothing grows', () => {
    expect(Object.values(soak(() => ({})))).toEqual([true, true, true, true, true])
  })

  it.each([
    ['memory (MB)', (at: number) => ({ rssMb: 200 + 4 * at })],
    ['p99 (ms)', (at: number) => ({ p99: 100 + 4 * at })],
    ['handles', (at: number) => ({ handles: 60 + 8 * at })],
    ['open commits', (at: number) => ({ openCommits: 2 + 20 * at })],
    ['bytes a turn', (at: number) => ({ bytesPerTurn: 4000 + 200 * at })],
  ])('fails when %s grows', (name, change) => {
    expect(soak(change)).toMatchObject({ [name]: false })
  })

  it('ignores one outlier window', () => {
    expect(soak((at) => (at === 11 ? { rssMb: 900, p99: 900 } : {}))).toMatchObject({
      'memory (MB)': true,
      'p99 (ms)': true,
    })
  })

  it('does not judge memory and p99 of three minutes', () => {
    expect(soak((at) => ({ rssMb: 200 + 40 * at, p99: 100 + 40 * at }), 3)).toMatchObject({
      'memory (MB)': null,
      'p99 (ms)': null,
      handles: true,
    })
  })
})
