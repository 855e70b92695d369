import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { SharedTurns, TurnRule, TurnState } from '#storage/cluster-ports.ts'

/** Views of one set of turns, one per process that shares it. */
export interface TurnsSubject {
  readonly views: readonly SharedTurns[]
  /** Advances the clock by 100 ms; omitted if time passes by itself. */
  readonly tick?: () => Promise<void>
  readonly close: () => Promise<void>
}

const rule: TurnRule = { atOnce: 2, spacingMs: 0, holdMs: 60_000 }

/** Contract of `SharedTurns`. Each test uses its own keys. */
export const turnsContract = (name: string, open: () => Promise<TurnsSubject>): void => {
  describe(`${name} turns`, () => {
    let subject: TurnsSubject
    let made = 0
    const fresh = (): string => `host-${++made}.example`
    const view = (n: number): SharedTurns => {
      const found = subject.views[n % subject.views.length]
      if (found === undefined) throw new Error('no view')
      return found
    }
    beforeAll(async () => {
      subject = await open()
    })
    afterAll(() => subject?.close())

    it('are taken by as many as the rule allows, of a hundred concurrent attempts from all processes', async () => {
      const key = fresh()
      const attempts = Array.from({ length: 100 }, (_, n) => view(n).take(key, `holder-${n}`, rule))
      const states = await Promise.all(attempts)
      expect(states.filter(({ taken }) => taken)).toHaveLength(2)
      const refused = states.find(({ taken }) => !taken)
      expect(refused?.waitMs).toBeGreaterThan(50_000)
      expect(refused?.postponed).toBe(false)
    })

    it('are free again once given back, on whichever process, and repeating that changes nothing', async () => {
      const key = fresh()
      const once = { ...rule, atOnce: 1 }
      expect((await view(0).take(key, 'a', once)).taken).toBe(true)
      expect((await view(1).take(key, 'b', once)).taken).toBe(false)
      await view(0).giveBack(key, 'a')
      await view(0).giveBack(key, 'a')
      expect((await view(1).take(key, 'b', once)).taken).toBe(true)
      await view(0).giveBack(key, 'a')
      expect((await view(0).take(key, 'c', once)).taken).toBe(false)
    })

    it('begin at the spacing, and end by themselves', async () => {
      const key = fresh()
      const spaced = { atOnce: 2, spacingMs: 400, holdMs: 900 }
      const take = (n: number): Promise<TurnState> => view(n).take(key, `h${n}`, spaced)
      expect((await take(0)).taken).toBe(true)
      const early = await take(1)
      expect([early.taken, early.waitMs > 0 && early.waitMs <= 400]).toEqual([false, true])
      for (const n of [1, 2])
        await vi.waitFor(
          async () => {
            await subject.tick?.()
            expect((await take(n)).taken).toBe(true)
          },
          { timeout: 30_000 },
        )
    })

    it('are all postponed, until the later of two times', async () => {
      const key = fresh()
      await view(0).postpone(key, 60_000)
      await view(1).postpone(key, 10)
      const state = await view(1).take(key, 'a', rule)
      expect(state).toMatchObject({ taken: false, postponed: true })
      expect(state.waitMs).toBeGreaterThan(50_000)
      expect((await view(0).take(fresh(), 'a', rule)).taken).toBe(true)
    })
  })
}
