import { Random } from '#test/simulation/world/random.ts'

/** Kinds of disturbances of a cluster. */
export type DisturbanceKind = 'kill' | 'pause' | 'restart' | 'redis' | 'mongod' | `cut_${Wire}`

/** Connections of a node that can be cut: to its stores, and from the other nodes. */
export type Wire = 'mongod' | 'redis' | 'peers'

/** One planned disturbance. */
export interface Disturbance {
  /** Time in ms from the start; it happens later if no node can be disturbed at that time. */
  readonly atMs: number
  readonly kind: DisturbanceKind
  /** Time in ms that the process is down, paused, or cut off. */
  readonly forMs: number
}

/** Range of durations per kind, in ms. A pause outlasts a lease of 4 s. */
const lasting: Readonly<Record<DisturbanceKind, readonly [number, number]>> = {
  kill: [100, 1500],
  pause: [4500, 7000],
  restart: [0, 500],
  redis: [200, 4000],
  mongod: [200, 2000],
  cut_mongod: [0, 2500],
  cut_redis: [0, 2500],
  cut_peers: [200, 4000],
}

/** Every kind. */
export const disturbanceKinds: readonly DisturbanceKind[] = [
  'kill',
  'pause',
  'restart',
  'redis',
  'mongod',
  'cut_mongod',
  'cut_redis',
  'cut_peers',
]

const killEveryMs = [3800, 5000] as const
const otherEveryMs = [6000, 9000] as const
/** Time in ms without disturbances at the beginning and at the end. */
const calmMs = 2000

/**
 * Plans the disturbances of a run of `ms`: nodes are killed throughout, and the other kinds take turns, in a new order
 * each round. The same seed gives the same plan.
 */
export const planOf = (
  seed: number,
  ms: number,
  kinds: readonly DisturbanceKind[] = disturbanceKinds,
): readonly Disturbance[] => {
  const random = new Random(`plan:${seed}`)
  const others = kinds.filter((kind) => kind !== 'kill')
  const plan: Disturbance[] = []
  const add = (atMs: number, kind: DisturbanceKind) =>
    plan.push({ atMs, kind, forMs: random.between(...lasting[kind]) })
  const each = (every: readonly [number, number], next: () => DisturbanceKind | undefined) => {
    for (let at = calmMs + random.between(0, every[0]); at < ms - calmMs; at += random.between(...every)) {
      const kind = next()
      if (kind !== undefined) add(at, kind)
    }
  }
  if (kinds.includes('kill')) each(killEveryMs, () => 'kill')
  let deck: DisturbanceKind[] = []
  each(otherEveryMs, () => {
    if (deck.length === 0) deck = shuffled(others, random)
    return deck.pop()
  })
  return plan.sort((one, other) => one.atMs - other.atMs)
}

const shuffled = <T>(items: readonly T[], random: Random): T[] =>
  items
    .map((item) => ({ item, place: random.next() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item)
