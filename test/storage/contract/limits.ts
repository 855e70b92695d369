import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { RateLimits } from '#storage/cluster-ports.ts'

/** Views of one set of limits, one per process that shares it. */
export interface LimitsSubject {
  readonly views: readonly RateLimits[]
  /** Advances the clock; omitted if time passes by itself. */
  readonly tick?: () => void
  readonly close: () => Promise<void>
}

const hour = 3_600_000

/** Contract of `RateLimits`. Each test uses its own keys. */
export const limitsContract = (name: string, open: () => Promise<LimitsSubject>): void => {
  describe(`${name} limits`, () => {
    let opened: LimitsSubject | undefined
    let made = 0
    const subject = (): LimitsSubject => {
      if (!opened) throw new Error('the limits are not open')
      return opened
    }
    const view = (n = 0): RateLimits => {
      const { views } = subject()
      const found = views[n % views.length]
      if (!found) throw new Error('no view')
      return found
    }
    const fresh = (): string => `key-${++made}`
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened?.close())

    it('allows exactly the limit out of a thousand concurrent attempts from all processes', async () => {
      const key = fresh()
      const attempts = Array.from({ length: 1_000 }, (_, n) => view(n).take(key, { limit: 100, windowMs: hour }))
      const states = await Promise.all(attempts)
      expect(states.filter(({ allowed }) => allowed)).toHaveLength(100)
      expect(
        states
          .filter(({ allowed }) => allowed)
          .map(({ remaining }) => remaining)
          .sort((a, b) => a - b),
      ).toEqual(Array.from({ length: 100 }, (_, n) => n))
    })

    it('takes nothing if an attempt requires more than is left', async () => {
      const key = fresh()
      const limit = { limit: 10, windowMs: hour }
      expect(await view().take(key, limit, 7)).toMatchObject({ allowed: true, remaining: 3 })
      expect(await view(1).take(key, limit, 4)).toMatchObject({ allowed: false, remaining: 3 })
      expect(await view().take(key, limit, 3)).toMatchObject({ allowed: true, remaining: 0 })
    })

    it('reports when units return: after the window, at most a sixtieth of it later', async () => {
      const limit = { limit: 1, windowMs: hour }
      const key = fresh()
      for (const state of [await view().take(key, limit), await view(1).take(key, limit)]) {
        expect(state.resetMs).toBeGreaterThan(hour - 60_000)
        expect(state.resetMs).toBeLessThanOrEqual(hour + hour / 60)
      }
      expect((await view().take(fresh(), { limit: 0, windowMs: hour })).resetMs).toBe(0)
    })

    it('counts each key separately, and forgets a key that is reset', async () => {
      const [one, two] = [fresh(), fresh()]
      const limit = { limit: 1, windowMs: hour }
      await view().take(one, limit)
      expect((await view(1).take(two, limit)).allowed).toBe(true)
      expect((await view(1).take(one, limit)).allowed).toBe(false)
      await view(1).reset(one)
      expect((await view().take(one, limit)).allowed).toBe(true)
      expect((await view().take(two, limit)).allowed).toBe(false)
    })

    it('holds units for work in progress, of all processes: at most one piece of work goes beyond the limit', async () => {
      const [key, limit] = [fresh(), { limit: 1_000, windowMs: hour }]
      const attempts = Array.from({ length: 200 }, (_, n) => view(n).hold(key, limit, { max: 150 }))
      const held = (await Promise.all(attempts)).flatMap((state) => (state.held === null ? [] : [state.held]))
      expect(held.map(({ units }) => units)).toEqual([150, 150, 150, 150, 150, 150, 150])
      expect(await view().hold(key, limit, { max: 1 })).toMatchObject({ allowed: false, remaining: 0, held: null })
    })

    it('replaces held units by the used ones, even beyond the limit', async () => {
      const [key, limit] = [fresh(), { limit: 100, windowMs: hour }]
      const hold = async (max: number) => {
        const { held } = await view().hold(key, limit, { max })
        if (held === null) throw new Error('no units left')
        return held
      }
      const [one, two] = [await hold(60), await hold(30)]
      await view(1).settle(key, limit, { held: one, units: 5 })
      expect(await view().take(key, limit, 0)).toMatchObject({ remaining: 65 })
      await view(1).settle(key, limit, { held: two, units: 0 })
      expect(await view().take(key, limit, 0)).toMatchObject({ remaining: 95 })
      await view(1).settle(key, limit, { held: await hold(10), units: 120 })
      expect(await view().take(key, limit, 0)).toMatchObject({ allowed: false, remaining: 0 })
      expect((await view().hold(key, limit, { max: 1 })).held).toBeNull()
    })

    it('holds an eighth of what is left for work that can be limited to it', async () => {
      const [key, limit] = [fresh(), { limit: 100, windowMs: hour }]
      const units: (number | undefined)[] = []
      units.push((await view().hold(key, limit, { max: 5, min: 2 })).held?.units)
      for (let n = 0; n < 2; n++) units.push((await view(n).hold(key, limit, { max: 200, min: 5 })).held?.units)
      for (let n = 0; n < 4; n++) units.push((await view(n).hold(key, limit, { max: 200, min: 24 })).held?.units)
      // all of it, an eighth, an eighth of the rest, the least; with 1 left, the work is not limited any more
      expect(units).toEqual([5, 11, 10, 24, 24, 24, 200])
      expect((await view().hold(key, limit, { max: 1 })).held).toBeNull()
    })

    it('returns held units at the end of their window, and does not return them twice', async () => {
      const limit = { limit: 10, windowMs: 600 }
      const key = fresh()
      const { held } = await view().hold(key, limit, { max: 10 })
      if (held === null) throw new Error('no units left')
      await vi.waitFor(
        async () => {
          subject().tick?.()
          expect(await view(1).take(key, limit, 10)).toMatchObject({ allowed: true })
        },
        { timeout: 60_000, interval: 20 },
      )
      await view().settle(key, { limit: 10, windowMs: hour }, { held, units: 1 })
      expect(await view().take(key, limit, 0)).toMatchObject({ remaining: 0 })
    })

    it('returns units at the end of their window', async () => {
      const limit = { limit: 2, windowMs: 600 }
      // with another key if the machine paused for a whole window
      const key = await vi.waitFor(
        async () => {
          const used = fresh()
          await view().take(used, limit, 2)
          expect((await view(1).take(used, limit)).allowed).toBe(false)
          return used
        },
        { timeout: 60_000 },
      )
      await vi.waitFor(
        async () => {
          subject().tick?.()
          expect(await view(1).take(key, limit)).toMatchObject({ allowed: true })
        },
        { timeout: 60_000, interval: 20 },
      )
    })

    it('keeps the taken units when the limit changes', async () => {
      const key = fresh()
      await view().take(key, { limit: 5, windowMs: hour }, 5)
      expect(await view(1).take(key, { limit: 8, windowMs: 60_000 }, 3)).toMatchObject({ allowed: true, remaining: 0 })
      expect(await view().take(key, { limit: 8, windowMs: 60_000 })).toMatchObject({ allowed: false })
    })
  })
}
