import { Random } from './random.ts'

/** How hostile a run is: probabilities a store operation, numbers a run. */
export interface Faults {
  /** Not done, and said so. */
  readonly refused: number
  /** Done, and the answer is lost. */
  readonly lost: number
  /** Done after a long time. */
  readonly slow: number
  /** Given up by the process, and done long after. */
  readonly late: number
  /** Times in which the store cannot be reached at all. */
  readonly outages: number
  readonly crashes: number
  /** Processes that stall, are replaced, and wake. */
  readonly zombies: number
  /** Clocks of processes are off by up to so many ms. */
  readonly skewMs: number
  /** Questions between processes, their answers, and news that get lost. */
  readonly cut: number
  /** Times in which the directory and the news are away. */
  readonly directoryOutages: number
  /** Processes that have to end, and hand over what they run. */
  readonly drains: number
  /** The clock of a process jumps by seconds, forwards or back. */
  readonly jumps: number
  /** Times in which the store is killed: it is away, and has forgotten what it had acknowledged without its journal. */
  readonly forgets: number
  /** Actors that cannot be restored, and as many that throw at what they are sent; they were there before. */
  readonly bad: number
  /** Times in which one process alone does not reach the store, and two do not reach each other. */
  readonly partitions: number
}

/** A world without trouble. */
export const noFaults: Faults = {
  ...{ refused: 0, lost: 0, slow: 0, late: 0, outages: 0, crashes: 0, zombies: 0, skewMs: 0 },
  ...{ cut: 0, directoryOutages: 0, drains: 0, jumps: 0, forgets: 0, bad: 0, partitions: 0 },
}

/** What a seed meets beside `faultsOf`: drawn apart, so that a seed stays what it was. */
export const laterFaultsOf = (seed: number): Pick<Faults, 'jumps' | 'forgets' | 'bad'> => {
  const random = new Random(`later faults/${seed}`)
  return {
    jumps: random.chance(0.3) ? random.between(1, 3) : 0,
    forgets: random.chance(0.3) ? random.between(1, 3) : 0,
    bad: random.chance(0.3) ? random.between(1, 3) : 0,
  }
}

/** What several processes meet beside that, drawn apart likewise. */
export const partitionsOf = (seed: number): Pick<Faults, 'partitions'> => {
  const random = new Random(`partitions/${seed}`)
  return { partitions: random.chance(0.4) ? random.between(1, 4) : 0 }
}

/** What a seed meets: most runs have trouble of some kinds only, so that each is met alone as well. */
export const faultsOf = (random: Random): Faults => {
  const rate = (most: number): number => (random.chance(0.5) ? random.next() * most : 0)
  return {
    refused: rate(0.05),
    lost: rate(0.05),
    slow: rate(0.06),
    late: rate(0.03),
    outages: random.chance(0.2) ? random.between(1, 2) : 0,
    crashes: random.chance(0.7) ? random.between(1, 4) : 0,
    zombies: random.chance(0.4) ? random.between(1, 2) : 0,
    skewMs: random.chance(0.3) ? random.between(0, 1500) : 0,
    ...{ cut: 0, directoryOutages: 0, drains: 0, jumps: 0, forgets: 0, bad: 0, partitions: 0 },
  }
}

/** What several processes meet beside that. */
export const clusterFaultsOf = (random: Random): Faults => ({
  ...faultsOf(random),
  cut: random.chance(0.5) ? random.next() * 0.05 : 0,
  directoryOutages: random.chance(0.3) ? random.between(1, 2) : 0,
  drains: random.chance(0.4) ? random.between(1, 3) : 0,
})
