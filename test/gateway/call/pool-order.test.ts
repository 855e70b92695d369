import { describe, expect, it } from 'vitest'
import { poolOrder } from '#gateway/call/pools/pool-order.ts'
import type { RouteState } from '#gateway/call/pools/route-health.ts'
import type { PoolPolicy, Route } from '#gateway/call/routes.ts'
import type { PoolStrategy } from '#specs/resources/gateway/routing-policy.ts'
import { managedRoute } from '../ledger/calls.ts'

const keyOf = (connectionId: string, more: Partial<Route> = {}): Route => ({
  ...managedRoute,
  source: 'byok',
  connectionId,
  ...more,
})
/** A generator of numbers from 0 to 1 that is the same in every run. */
const randomOf = (seed = 1) => {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}
const states = new Map<Route, Partial<RouteState>>()
const stateOf = (route: Route): RouteState => ({
  busy: 0,
  latencyMs: null,
  failing: 0,
  inARow: 0,
  ...states.get(route),
})

interface Ordering {
  readonly conversation?: string | null
  readonly random?: () => number
  readonly sticky?: boolean
}

const order = (routes: readonly Route[], strategy: PoolStrategy, { random = randomOf(), ...other }: Ordering = {}) => {
  const policy: PoolPolicy = { strategy, sticky: other.sticky ?? true }
  return poolOrder(routes, policy, { conversation: other.conversation ?? null, stateOf, random })
}
/** How often each route is the first of many orders. */
const firsts = (routes: readonly Route[], strategy: PoolStrategy, calls = 20_000) => {
  const random = randomOf()
  const counts = new Map(routes.map((route) => [route, 0]))
  for (let call = 0; call < calls; call++) {
    const [first] = order(routes, strategy, { random })
    if (first !== undefined) counts.set(first, (counts.get(first) ?? 0) + 1)
  }
  return routes.map((route) => (counts.get(route) ?? 0) / calls)
}

describe('the keys of a pool', () => {
  const [a, b, c] = [keyOf('a'), keyOf('b'), keyOf('c')]

  it('stay in their order by priority', () => {
    expect(order([a, b, c], 'priority', { conversation: 'one' })).toEqual([a, b, c])
  })

  it('share the calls by weight, and one that fails gets less', () => {
    const pool = [keyOf('a', { weight: 1 }), keyOf('b', { weight: 3 }), keyOf('c', { weight: 6 })]
    const shares = firsts(pool, 'weighted')
    for (const [at, share] of [0.1, 0.3, 0.6].entries()) expect(shares[at]).toBeCloseTo(share, 1)
    const [failing, sound] = [keyOf('x'), keyOf('y')]
    states.set(failing, { failing: 0.9 })
    expect(firsts([failing, sound], 'weighted')[0]).toBeLessThan(0.03)
  })

  it('that failed since they last answered come after the others, once a first one has failed', () => {
    const pool = ['k', 'l', 'm', 'n'].map((name) => keyOf(name))
    const [one, , other] = pool
    for (const route of [one, other]) if (route !== undefined) states.set(route, { failing: 0.2, inARow: 1 })
    const random = randomOf()
    for (const strategy of ['weighted', 'least_busy', 'lowest_latency', 'lowest_cost'] as const)
      for (let call = 0; call < 50; call++) {
        const next = order(pool, strategy, { random }).slice(1)
        const failed = next.map((route) => stateOf(route).inARow)
        expect(failed).toEqual(failed.toSorted())
      }
    expect(firsts(pool, 'weighted')[0]).toBeLessThan(0.1)
  })

  it('with the weight 0 come last with every strategy', () => {
    const standby = keyOf('s', { weight: 0 })
    for (const strategy of ['priority', 'weighted', 'least_busy', 'lowest_latency', 'lowest_cost'] as const)
      expect(order([standby, a, b], strategy, { conversation: 'one' }).at(-1)).toBe(standby)
  })

  it('of a conversation stay the same, and few move when a key is added', () => {
    const pool = Array.from({ length: 9 }, (_, n) => keyOf(`k${n}`))
    const keysOf = (routes: readonly Route[]) =>
      Array.from({ length: 1000 }, (_, n) => order(routes, 'weighted', { conversation: `talk ${n}` })[0])
    const before = keysOf(pool)
    expect(keysOf(pool)).toEqual(before)
    for (const route of pool) expect(before.filter((key) => key === route).length).toBeGreaterThan(70)
    const added = keyOf('k9')
    const after = keysOf([...pool, added])
    expect(after.every((key, at) => key === before[at] || key === added)).toBe(true)
    expect(after.filter((key) => key === added).length).toBeLessThan(150)
  })

  it('are chosen by the calls in progress for their weight, also for a conversation whose key is too busy', () => {
    const [small, large] = [keyOf('small'), keyOf('large', { weight: 4 })]
    states.set(small, { busy: 2 }).set(large, { busy: 4 })
    expect(order([small, large], 'least_busy')[0]).toBe(large)
    const [home, other] = order([a, b], 'least_busy', { conversation: 'talk' })
    for (const route of [home, other]) if (route !== undefined) states.set(route, { busy: route === home ? 1 : 0 })
    expect(order([a, b], 'least_busy', { conversation: 'talk' })[0]).toBe(home)
    if (home !== undefined) states.set(home, { busy: 5 })
    expect(order([a, b], 'least_busy', { conversation: 'talk' })[0]).toBe(other)
    states.clear()
  })

  it('are chosen by latency, those of unknown latency first, and the slow ones now and then', () => {
    const [fast, similar, slow, unknown] = [keyOf('f'), keyOf('m'), keyOf('l'), keyOf('u')]
    states.set(fast, { latencyMs: 100 }).set(similar, { latencyMs: 110 }).set(slow, { latencyMs: 400 })
    const [fasts = 0, similars = 0, slows = 0] = firsts([fast, similar, slow], 'lowest_latency')
    expect(Math.min(fasts, similars)).toBeGreaterThan(0.4)
    expect(slows).toBeGreaterThan(0.005)
    expect(slows).toBeLessThan(0.03)
    expect(order([fast, similar, slow, unknown], 'lowest_latency', { random: () => 0.5 })[0]).toBe(unknown)
    states.clear()
  })

  it('are chosen by their prices, unknown ones last', () => {
    const priced = (id: string, input: string) => keyOf(id, { ownPrices: { input, output: '1' } })
    const [cheap, dear] = [priced('cheap', '0.1'), priced('dear', '2')]
    const nameless = keyOf('n', { model: 'a-model-without-a-price' })
    expect(order([nameless, dear, cheap], 'lowest_cost', { conversation: 'one' })).toEqual([cheap, dear, nameless])
  })
})
