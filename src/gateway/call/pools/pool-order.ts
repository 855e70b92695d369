import { createHash } from 'node:crypto'
import { routePrice } from '../accounting/route-price.ts'
import type { PoolPolicy, Route } from '../routes.ts'
import type { RouteState } from './route-health.ts'

/** What the order of one call depends on, beside the routes. */
export interface PoolCall {
  /** Names the conversation of the call; null when none is known. */
  readonly conversation: string | null
  readonly stateOf: (route: Route) => Readonly<RouteState>
  /** Returns a number from 0 to 1. */
  readonly random: () => number
}

/** A conversation leaves its key while that has this many times the mean of calls in progress. */
const boundedLoad = 1.25
/** Share of calls that measure the latency of a key other than the fastest. */
const explored = 0.05
/** Latencies up to this many times the lowest count as equal. */
const similar = 1.2
/** The least share of its weight that a failing key keeps. */
const minShare = 0.01

/**
 * Returns the routes of a pool in the order in which to try them. Routes with the weight 0 come last: they serve only
 * when others fail.
 */
export const poolOrder = (routes: readonly Route[], policy: PoolPolicy, call: PoolCall): readonly Route[] => {
  if (policy.strategy === 'priority') return standbyLast(routes)
  const ordered = standbyLast(byRank(routes, rankOf(policy.strategy, routes, call)))
  const isKept = policy.sticky && call.conversation !== null
  return soundNext(isKept ? kept(ordered, policy, { ...call, key: call.conversation }) : ordered, call)
}

/** Moves keys that failed lately behind those that did not, but for the first: a call that fails there is lost no time. */
const soundNext = ([first, ...rest]: readonly Route[], { stateOf }: Pick<PoolCall, 'stateOf'>): readonly Route[] => {
  if (first === undefined) return []
  const isSound = (route: Route): boolean => stateOf(route).inARow === 0
  return [first, ...standbyLast([...rest.filter(isSound), ...rest.filter((route) => !isSound(route))])]
}

type Rank = (route: Route) => number

const byRank = (routes: readonly Route[], rank: Rank): readonly Route[] =>
  routes
    .map((route) => ({ route, rank: rank(route) }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ route }) => route)

const standbyLast = (routes: readonly Route[]): readonly Route[] => {
  const standby = routes.filter((route) => weightOf(route) === 0)
  return standby.length === 0 ? routes : [...routes.filter((route) => weightOf(route) > 0), ...standby]
}

const weightOf = ({ weight = 1 }: Route): number => weight

/**
 * Rank by which the first of all is drawn with the probability of its weight, the second likewise among the rest, and so
 * on: the exponential method of weighted sampling without replacement.
 */
const drawn = (uniform: number, weight: number): number => -Math.log(1 - uniform) / Math.max(weight, Number.MIN_VALUE)

/** Share of its weight that a key keeps: by how often it failed, and a quarter for each failure since it last answered. */
const shareOf = ({ failing, inARow }: Readonly<RouteState>): number =>
  Math.max(minShare, (1 - failing) ** 2 / 4 ** inARow)

const rankOf = (
  strategy: Exclude<PoolPolicy['strategy'], 'priority'>,
  routes: readonly Route[],
  { stateOf, random }: PoolCall,
): Rank => {
  switch (strategy) {
    case 'weighted':
      return (route) => drawn(random(), weightOf(route) * shareOf(stateOf(route)))
    case 'least_busy':
      // a random part smaller than one call decides between equals
      return (route) => (stateOf(route).busy + random() / 2) / Math.max(weightOf(route), Number.MIN_VALUE)
    case 'lowest_latency':
      return byLatency(routes, { stateOf, random })
    case 'lowest_cost':
      return (route) => priceOf(route) + random() * 1e-12
  }
}

const byLatency = (routes: readonly Route[], { stateOf, random }: Pick<PoolCall, 'stateOf' | 'random'>): Rank => {
  const lowest = Math.min(...routes.map((route) => stateOf(route).latencyMs ?? Number.POSITIVE_INFINITY))
  const explores = random() < explored
  return (route) => {
    const { latencyMs } = stateOf(route)
    if (explores || latencyMs === null) return random() - 1
    return latencyMs <= lowest * similar ? random() : latencyMs / lowest
  }
}

const priceOf = (route: Route): number => {
  const price = routePrice(route)
  return price === undefined ? Number.MAX_VALUE : Number(price.input ?? 0) + Number(price.output ?? 0)
}

/**
 * Moves the key of the conversation to the front: the one of rendezvous hashing by weight, so that a change of the pool
 * moves only the conversations of the key that came or went. With `least_busy`, the next one while it has too many calls.
 */
const kept = (
  ordered: readonly Route[],
  { strategy }: PoolPolicy,
  { key, stateOf }: PoolCall & { readonly key: string },
): readonly Route[] => {
  if (strategy !== 'weighted' && strategy !== 'least_busy') return ordered
  const preferred = byRank(
    ordered.filter((route) => weightOf(route) > 0),
    (route) => drawn(uniformOf(`${key} ${route.connectionId}`), weightOf(route)),
  )
  const total = ordered.reduce((sum, route) => sum + stateOf(route).busy, 0)
  const weights = ordered.reduce((sum, route) => sum + weightOf(route), 0)
  const fits = (route: Route) =>
    strategy === 'weighted' || stateOf(route).busy <= Math.ceil(((total + 1) * boundedLoad * weightOf(route)) / weights)
  const first = preferred.find(fits)
  return first === undefined ? ordered : [first, ...ordered.filter((route) => route !== first)]
}

/** Returns a number from 0 to 1 that is the same for the same text. */
export const uniformOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32
