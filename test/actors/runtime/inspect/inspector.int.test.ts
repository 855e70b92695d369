import { describe, expect, it } from 'vitest'
import { inspector } from '#runtime/inspect/inspector.ts'

describe('the page of charts', () => {
  it('serves every module that its drawing imports', async () => {
    const { url, close } = await inspector({ charts: [], read: async () => ({ machine: '', value: '' }) }, 0)
    const read = new Map<string, number>()
    const follow = async (path: string): Promise<void> => {
      const answer = await fetch(path)
      read.set(path.replace(url, ''), answer.status)
      for (const [, file = ''] of (await answer.text()).matchAll(/ from '(\.[^']+)'/g)) {
        const next = new URL(file, path).href
        if (!read.has(next.replace(url, ''))) await follow(next)
      }
    }
    await follow(`${url}code/chart.ts`)
    await close()
    expect(read.size).toBeGreaterThan(4)
    expect([...read].filter(([, status]) => status !== 200)).toEqual([])
  })
})
