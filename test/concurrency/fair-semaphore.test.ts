import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FairSemaphore, type SemaphoreLimits } from '#src/concurrency/fair-semaphore.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** A semaphore for owners such as `project/tenant`, and what has started in it. */
const opened = (limits: Omit<SemaphoreLimits<string>, 'path'>) => {
  const turns = new FairSemaphore<string>({ ...limits, path: (owner) => owner.split('/') })
  const started: string[] = []
  const begin = (owner: string, signal?: AbortSignal) => {
    const over = Promise.withResolvers<void>()
    const work = async () => {
      started.push(owner)
      await over.promise
    }
    const done = turns.run(owner, work, signal)
    done.catch(() => {})
    return { owner, done, end: () => over.resolve() }
  }
  return { turns, started, begin }
}

/** Starts works one at a time, and returns the order of their owners. */
const served = async (owners: readonly string[]): Promise<readonly string[]> => {
  const { started, begin } = opened({ running: [1] })
  const works = owners.map((owner) => begin(owner))
  for (let at = 0; at < owners.length; at++) {
    for (const { end } of works.filter(({ owner }) => started.includes(owner)).slice(0, at + 1)) end()
    await settled()
  }
  return started
}

type Step = { readonly owner: string } | { readonly end: number } | { readonly abort: number }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ owner: fc.constantFrom('a/1', 'a/2', 'b/1', 'c/1', 'c/2') }) },
    { weight: 3, arbitrary: fc.record({ end: fc.nat(40) }) },
    { weight: 1, arbitrary: fc.record({ abort: fc.nat(40) }) },
  ),
  { maxLength: 80 },
)

interface Work {
  readonly owner: string
  readonly end: () => void
  readonly abort: AbortController
  state: 'waiting' | 'running' | 'over'
}

/** Runs the steps, and checks a property after each. */
const played = async (
  limits: { readonly running: readonly number[] },
  all: readonly Step[],
  check: (works: readonly Work[]) => void,
): Promise<readonly Work[]> => {
  const turns = new FairSemaphore<string>({ ...limits, path: (owner) => owner.split('/') })
  const works: Work[] = []
  const begin = (owner: string): void => {
    const over = Promise.withResolvers<void>()
    const work: Work = { owner, end: over.resolve, abort: new AbortController(), state: 'waiting' }
    works.push(work)
    const run = async () => {
      work.state = 'running'
      await over.promise
    }
    const ended = () => {
      work.state = 'over'
    }
    turns.run(owner, run, work.abort.signal).then(ended, ended)
  }
  const pick = (state: Work['state'], at: number) => {
    const those = works.filter((work) => work.state === state)
    return those[at % those.length]
  }
  for (const step of all) {
    if ('owner' in step) begin(step.owner)
    else if ('end' in step) pick('running', step.end)?.end()
    else pick('waiting', step.abort)?.abort.abort()
    await settled()
    check(works)
    expect(turns.running).toBe(works.filter(({ state }) => state === 'running').length)
    expect(turns.waiting).toBe(works.filter(({ state }) => state === 'waiting').length)
  }
  return works
}

const runningOf = (works: readonly Work[], prefix: string): number =>
  works.filter(({ owner, state }) => state === 'running' && owner.startsWith(prefix)).length

describe('a fair semaphore', () => {
  it('never exceeds a limit of all, of a group or of an owner, and leaves no place free that a work may take', async () => {
    const limits = fc.tuple(
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 2 }),
    )
    await fc.assert(
      fc.asyncProperty(limits, steps, async ([all, group, owner], plan) => {
        await played({ running: [all, group, owner] }, plan, (works) => {
          expect(runningOf(works, '')).toBeLessThanOrEqual(all)
          for (const each of ['a/', 'b/', 'c/']) expect(runningOf(works, each)).toBeLessThanOrEqual(group)
          for (const each of works) expect(runningOf(works, each.owner)).toBeLessThanOrEqual(owner)
          const able = works.filter(
            (each) =>
              each.state === 'waiting' &&
              runningOf(works, '') < all &&
              runningOf(works, each.owner.slice(0, 2)) < group &&
              runningOf(works, each.owner) < owner,
          )
          expect(able).toEqual([])
        })
      }),
      { numRuns: 150 },
    )
  })

  it('starves no owner: between two works of one owner, each other waiting owner without a running work is served', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), steps, async (all, plan) => {
        let before: readonly Work['state'][] = []
        const passed = new Map<string, Set<string>>()
        await played({ running: [all] }, plan, (works) => {
          const begun = works.filter(({ state }, at) => state === 'running' && before[at] === 'waiting')
          const groupOf = ({ owner }: Work) => owner.slice(0, 2)
          const idle = new Set(works.filter(({ state }) => state === 'waiting').map(groupOf))
          for (const each of idle) if (runningOf(works, each) > 0) idle.delete(each)
          for (const each of passed.keys()) if (!idle.has(each)) passed.delete(each)
          for (const each of idle)
            for (const other of begun.map(groupOf)) {
              expect(passed.get(each)?.has(other) ?? false).toBe(false)
              passed.set(each, (passed.get(each) ?? new Set()).add(other))
            }
          before = works.map(({ state }) => state)
        })
      }),
      { numRuns: 150 },
    )
  })

  it('starts the works of one owner in order of arrival, also when others of them are aborted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 30 }), async (kept) => {
        const turns = new FairSemaphore<string>({ path: (owner) => [owner], running: [1] })
        const first = Promise.withResolvers<void>()
        const head = turns.run('a', () => first.promise)
        const order: number[] = []
        const gone = new AbortController()
        const rest = kept.map((isKept, at) =>
          turns.run('a', async () => void order.push(at), isKept ? undefined : gone.signal).catch(() => {}),
        )
        gone.abort()
        expect(turns.waiting).toBe(kept.filter(Boolean).length)
        first.resolve()
        await Promise.all([head, ...rest])
        expect(order).toEqual([...kept.keys()].filter((at) => kept[at]))
        expect([turns.running, turns.waiting]).toEqual([0, 0])
      }),
    )
  })

  it('serves groups in turn, and the owners of a group in turn, however many works each has waiting', async () => {
    expect(await served(['a', 'a', 'a', 'b', 'c', 'c'])).toEqual(['a', 'b', 'c', 'a', 'c', 'a'])
    expect(await served(['a/1', 'a/1', 'a/2', 'a/3', 'b/', 'b/'])).toEqual(['a/1', 'b/', 'a/2', 'b/', 'a/3', 'a/1'])
  })

  it('serves no owner twice in a row while another one waits', async () => {
    const { started, begin } = opened({ running: [1] })
    const first = begin('a')
    const again = begin('a')
    begin('b')
    first.end()
    await settled()
    expect(started).toEqual(['a', 'b'])
    again.end()
  })

  it('refuses a work with the given error when too many of its owner, or in total, wait', async () => {
    const { turns, begin } = opened({ running: [1], waiting: [3, 2], refusal: () => new Error('full') })
    begin('a')
    const works = [begin('a'), begin('a')]
    expect([turns.isFull('a'), turns.isFull('b')]).toEqual([true, false])
    await expect(begin('a').done).rejects.toThrow('full')
    begin('b')
    await expect(begin('c').done).rejects.toThrow('full')
    expect([turns.waiting, turns.waitingOf('a'), turns.waitingOf('c')]).toEqual([3, 2, 0])
    for (const { end } of works) end()
  })

  it('frees the place of a work that is aborted while it waits, and does not start it', async () => {
    const { turns, started, begin } = opened({ running: [1], waiting: [1] })
    const first = begin('a')
    const gone = new AbortController()
    const left = begin('b', gone.signal)
    gone.abort(new Error('gone'))
    await expect(left.done).rejects.toThrow('gone')
    expect(turns.isFull('c')).toBe(false)
    begin('c')
    first.end()
    await settled()
    expect(started).toEqual(['a', 'c'])
    await expect(begin('a', gone.signal).done).rejects.toThrow('gone')
  })

  it('passes on the place of a work that fails', async () => {
    const turns = new FairSemaphore<null>({ path: () => [], running: [1] })
    await expect(turns.run(null, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await turns.run(null, async () => 'next')).toBe('next')
  })

  it('starts works only while `mayStart` allows it', async () => {
    let isOpen = false
    const { turns, started, begin } = opened({ running: [2], mayStart: () => isOpen })
    for (const owner of ['a', 'a', 'b']) begin(owner)
    expect(started).toEqual([])
    isOpen = true
    turns.changed()
    await settled()
    expect(started).toEqual(['a', 'b'])
  })
})
