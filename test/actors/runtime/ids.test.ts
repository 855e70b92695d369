import { describe, expect, it } from 'vitest'
import {
  idAt,
  isId,
  newId,
  newIdBeside,
  newIdFor,
  newIdForBeside,
  newIdIn,
  takeIdsFrom,
  timeOfId,
} from '#runtime/ids.ts'
import { shardsOf } from '#runtime/recovery/shard.ts'

describe('ids', () => {
  it('consist of a prefix and 26 lower-case characters', () => {
    expect(newId('ses')).toMatch(/^ses_[0-9a-hjkmnp-tv-z]{26}$/)
  })

  it('are unique and sort in the order of their creation', () => {
    const made = Array.from({ length: 10_000 }, () => newId('ses'))
    expect(new Set(made).size).toBe(made.length)
    expect([...made].sort()).toEqual(made)
  })

  it('contain the time of their creation', () => {
    expect(timeOfId(idAt('run', 1_700_000_000_123))).toBe(1_700_000_000_123)
    const before = Date.now()
    expect(timeOfId(newId('run'))).toBeGreaterThanOrEqual(before)
  })

  it.each([256, 1024])('can be made in any of %i shards, and are still unique and sorted', (shards) => {
    const all = shardsOf({ shards })
    const made = Array.from({ length: 4 * shards }, (_, i) => newIdIn('act', (i * 37) % shards))
    const found = made.map((id) => all.of(id))
    expect(found).toEqual(made.map((_, i) => (i * 37) % shards))
    expect(made.every((id) => isId(id, 'act'))).toBe(true)
    expect(new Set(made).size).toBe(made.length)
    expect([...made].sort()).toEqual(made)
  })

  it('stay unique and sorted within one shard and millisecond, also when the counter overflows', () => {
    takeIdsFrom({ now: () => 1_700_000_000_000, random: () => 0.999 })
    const made = [...Array.from({ length: 2000 }, () => newIdIn('ses', 7)), newId('ses')]
    takeIdsFrom({ now: Date.now, random: Math.random })
    expect(new Set(made).size).toBe(made.length)
    expect([...made].sort()).toEqual(made)
    expect(new Set(made.slice(0, -1).map((id) => shardsOf({}).of(id)))).toEqual(new Set([7]))
  })

  it('are the same for a retried call, and new for any other call', () => {
    const seed = newId('x').slice(2)
    const again = { idempotency: { seed } }
    expect([newIdFor(again, 'agt'), newIdFor(again, 'agt')]).toEqual([`agt_${seed}`, `agt_${seed}`])
    for (const call of [{ idempotency: null }, { idempotency: { seed: null } }])
      expect(newIdFor(call, 'agt')).not.toBe(newIdFor(call, 'agt'))
  })

  it.each([256, 1024])(
    'beside an actor of %i shards are the same for a retried call, and differ between calls',
    (shards) => {
      const all = shardsOf({ shards })
      const seeds = Array.from({ length: 500 }, () => newId('x').slice(2))
      const parents = seeds.map(() => newId('run'))
      const of = (seed: string | null, actor = '') =>
        newIdForBeside({ idempotency: { seed } }, 'run', { actor, shards: all })
      const made = seeds.map((seed, i) => of(seed, parents[i]))
      expect(new Set(made).size).toBe(made.length)
      expect(made.map((id) => all.of(id))).toEqual(parents.map((id) => all.of(id)))
      expect(made.every((id) => isId(id, 'run'))).toBe(true)
      const [seed = ''] = seeds
      expect(of(seed, parents[0])).toBe(made[0])
      expect(timeOfId(of(seed, parents[0]))).toBe(timeOfId(`run_${seed}`))
      for (const id of [of(null, parents[0]), newIdBeside('act', parents[0] ?? '')])
        expect(all.of(id)).toBe(all.of(parents[0] ?? ''))
    },
  )

  it('are distinguished from invalid text', () => {
    const id = newId('ten')
    expect([isId(id), isId(id, 'ten'), isId(id, 'te'), isId(id, 'agt')]).toEqual([true, true, false, false])
    for (const text of ['', 'ten_', id.toUpperCase(), `${id}0`, id.slice(0, -1), `${id.slice(0, -1)}u`, '__proto__'])
      expect(isId(text)).toBe(false)
    expect(timeOfId('ten_x')).toBeNull()
  })
})
