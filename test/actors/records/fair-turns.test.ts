import { describe, expect, it } from 'vitest'
import { FairTurns, type TurnLimits } from '#records/limits/fair-turns.ts'

const unlimited = { perLane: Number.POSITIVE_INFINITY, waiting: Number.POSITIVE_INFINITY }

describe('turns of several lanes', () => {
  /** Starts work that ends when its name is given to `end`. */
  const world = (limits: Partial<TurnLimits>) => {
    const turns = new FairTurns({ running: 2, ...unlimited, ...limits })
    const started: string[] = []
    const ends = new Map<string, () => void>()
    const run = (name: string, signal?: AbortSignal) => {
      const work = () =>
        new Promise<void>((resolve) => {
          started.push(name)
          ends.set(name, resolve)
        })
      const [lane = ''] = name
      return turns.run(lane, work, signal)
    }
    const end = async (name: string) => {
      ends.get(name)?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return { run, end, started }
  }

  it('begin with the next lane, however many requests the first one has waiting', async () => {
    const { run, end, started } = world({})
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1']) void run(name)
    expect(started).toEqual(['a1', 'a2'])
    await end('a1')
    await end('a2')
    await end('a3')
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'c1'])
    await end('b1')
    await end('c1')
    expect(started.slice(5)).toEqual(['a4', 'a5'])
  })

  it('leave room for other lanes if a lane may run only some', async () => {
    const { run, end, started } = world({ runningPerLane: 1 })
    for (const name of ['a1', 'a2', 'a3', 'b1']) void run(name)
    expect(started).toEqual(['a1', 'b1'])
    await end('b1')
    expect(started).toEqual(['a1', 'b1'])
    await end('a1')
    expect(started).toEqual(['a1', 'b1', 'a2'])
  })

  it('are given up by a request that is aborted while it waits', async () => {
    const { run, end, started } = world({ running: 1 })
    const aborted = new AbortController()
    void run('a1')
    const waiting = run('a2', aborted.signal)
    void run('b1')
    aborted.abort(new Error('deleted'))
    await expect(waiting).rejects.toThrow('deleted')
    await end('a1')
    await end('b1')
    expect(started).toEqual(['a1', 'b1'])
    await expect(run('a3', aborted.signal)).rejects.toThrow('deleted')
    void run('a4', new AbortController().signal)
    expect(started).toEqual(['a1', 'b1', 'a4'])
  })

  it('pass on when work fails', async () => {
    const turns = new FairTurns({ running: 1, ...unlimited })
    const failing = turns.run('a', () => Promise.reject(new Error('no')))
    const next = turns.run('b', async () => 'done')
    await expect(failing).rejects.toThrow('no')
    expect(await next).toBe('done')
  })
})
