import { describe, expect, it } from 'vitest'
import { CredentialChanges } from '#records/caches/credential-changes.ts'
import { RecheckCache } from '#records/caches/recheck-cache.ts'
import type { JsonObject } from '#storage/index.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

/** Two nodes on one bus, each with a cache of the same store. */
const twoNodes = () => {
  const listeners: ((data: JsonObject) => void)[] = []
  const fanOut = {
    announce: (_topic: string, data: JsonObject): void => {
      for (const listener of listeners) listener(data)
    },
    subscribe: (_topic: string, listener: (data: JsonObject) => void): void => void listeners.push(listener),
  }
  const clock = new VirtualClock(1_800_000_000_000)
  const valid = new Set(['a', 'b'])
  const node = () => {
    const changes = new CredentialChanges({ clock, fanOut })
    const cache = new RecheckCache({
      ...{ load: async (hash: string) => valid.has(hash) || null, maxAgeMs: 1_000, maxEntries: 10 },
      ...{ now: () => clock.now(), changes },
    })
    let notices = 0
    changes.onChange(() => notices++)
    return { cache, changes, notices: () => notices }
  }
  return { clock, valid, one: node(), other: node() }
}

describe('a credential that ends on one node', () => {
  it('is forgotten at once on all nodes, before their streams are notified', async () => {
    const { valid, one, other } = twoNodes()
    for (const { cache } of [one, other]) await cache.load('a')
    const seen: unknown[] = []
    other.changes.onChange(() => seen.push(other.cache.peek('a')))
    expect(other.cache.peek('a')).toBe(true)
    valid.delete('a')
    one.cache.forget('a')
    expect([one.cache.peek('a'), other.cache.peek('a'), seen]).toEqual([undefined, undefined, [undefined]])
  })

  it('causes at most four rounds a second with any number of others, and the last is not missed', async () => {
    const { clock, one, other } = twoNodes()
    for (let at = 0; at < 1_000; at++) one.cache.forget(`k${at}`)
    expect([one.notices(), other.notices()]).toEqual([1, 1])
    await clock.advance(1_000)
    expect([one.notices(), other.notices()]).toEqual([2, 2])
    one.cache.forget('a')
    expect([one.notices(), other.notices()]).toEqual([3, 3])
  })
})
