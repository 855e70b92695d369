import { describe, expect, it, vi } from 'vitest'
import { ProgressReports, progressLimits } from '#actors/mcp/agents/input/progress-reports.ts'
import type { ToolProgress } from '#machines/session/session-data.ts'

const reported = async (work: (reports: ProgressReports) => void, count: number) => {
  const seen: ToolProgress[] = []
  const reports = new ProgressReports(async (progress) => void seen.push(progress), { everyMs: 5, max: 3 })
  work(reports)
  await vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(count), { timeout: 30_000 })
  await reports.end()
  return seen
}

describe('progress reports of a call', () => {
  it('are the first one at once, then the latest of each interval, up to a maximum per call', async () => {
    const seen: number[] = []
    const writes: PromiseWithResolvers<void>[] = []
    const reports = new ProgressReports(
      ({ progress }) => {
        seen.push(progress)
        const write = Promise.withResolvers<void>()
        writes.push(write)
        return write.promise
      },
      { everyMs: 1, max: 3 },
    )
    for (let count = 1; count <= 4; count++) {
      for (let n = 0; n < 1000; n++) reports.add({ progress: count * 1000 + n })
      if (count <= 3) await vi.waitFor(() => expect(seen).toHaveLength(count), { timeout: 30_000 })
      writes[count - 1]?.resolve()
    }
    await reports.end()
    expect(seen).toEqual([1999, 2999, 3999])
    expect(progressLimits).toMatchObject({ everyMs: 1000, max: 100 })
  })

  it('contain valid numbers and visible text', async () => {
    const text = `line\nnext\u0007 ${'x'.repeat(2000)}`
    const [first] = await reported((reports) => reports.add({ progress: 1, total: Number.NaN, message: text }), 1)
    expect(first).toMatchObject({ progress: 1, total: null })
    expect(first?.message?.startsWith('line next  xx')).toBe(true)
    expect(first?.message).toHaveLength(progressLimits.messageLength)
    const [hidden] = await reported((reports) => reports.add({ progress: 1, total: 2, message: 'a\u202eb' }), 1)
    expect(hidden).toEqual({ progress: 1, total: 2, message: null })
    const odd = new ProgressReports(() => Promise.reject(new Error('not a number')))
    odd.add({ progress: Number.POSITIVE_INFINITY })
    await odd.end()
  })

  it('stop at the end of the call, which continues if a report cannot be stored', async () => {
    let count = 0
    const failing = new ProgressReports(
      () => {
        count++
        return Promise.reject(new Error('the store is away'))
      },
      { everyMs: 0, max: 5 },
    )
    failing.add({ progress: 1 })
    await vi.waitFor(() => expect(count).toBe(1), { timeout: 30_000 })
    await failing.end()
    failing.add({ progress: 2 })
    await failing.end()
    expect(count).toBe(1)
  })
})
