import { Random } from './random.ts'

/** How hostile a run is: probabilities per store operation, numbers per run. */
export interface Faults {
  /** Not done, and reported as failed. */
  readonly refused: number
  /** Done, and the answer is lost. */
  readonly lost: number
  /** Done after a long time. */
  readonly slow: number
  /** Abandoned by the process, and done long after. */
  readonly late: number
  /** Periods in which the store cannot be reached at all. */
  readonly outages: number
  readonly crashes: number
  /** Processes that stall, are replaced, and wake. */
  readonly zombies: number
  /** Clocks of processes are off by up to this many ms. */
  readonly skewMs: number
  /** Requests between processes, answers and messages that are lost. */
  readonly cut: number
  /** Periods in which the directory and the messages between processes are unavailable. */
  readonly directoryOutages: number
  /** Processes that are drained, and hand over their actors. */
  readonly drains: number
  /** The clock of a process jumps by seconds, forwards or back. */
  readonly jumps: number
  /** Times at which the store is killed: it is away, and has lost what it had acknowledged without its journal. */
  readonly forgets: number
  /** Actors that cannot be restored, and as many that throw at their messages; they exist from the start. */
  readonly bad: number
  /** Periods in which one process does not reach the store, or two do not reach each other. */
  readonly partitions: number
}

/** No faults at all. */
export const noFaults: Faults = {
  ...{ refused: 0, lost: 0, slow: 0, late: 0, outages: 0, crashes: 0, zombies: 0, skewMs: 0 },
  ...{ cut: 0, directoryOutages: 0, drains: 0, jumps: 0, forgets: 0, bad: 0, partitions: 0 },
}

/** Faults that come with an upgrade again and again. */
export const upgradeFaults: Faults = { ...noFaults, lost: 0.01, slow: 0.02, cut: 0.01, crashes: 1, partitions: 2 }

/** Faults of a seed in addition to `faultsOf`: drawn separately, so that existing seeds keep their course. */
export const laterFaultsOf = (seed: number): Pick<Faults, 'jumps' | 'forgets' | 'bad'> => {
  const random = new Random(`later faults/${seed}`)
  return {
    jumps: random.chance(0.3) ? random.between(1, 3) : 0,
    forgets: random.chance(0.3) ? random.between(1, 3) : 0,
    bad: random.chance(0.3) ? random.between(1, 3) : 0,
  }
}

/** Faults of several processes in addition to that, also drawn separately. */
export const partitionsOf = (seed: number): Pick<Faults, 'partitions'> => {
  const random = new Random(`partitions/${seed}`)
  return { partitions: random.chance(0.4) ? random.between(1, 4) : 0 }
}

/** The faults of a seed: most runs have only some kinds of faults, so that each kind also occurs alone. */
export const faultsOf = (random: Random): Faults => {
  const rate = (max: number): number => (random.chance(0.5) ? random.next() * max : 0)
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

/** Additional faults for several processes. */
export const clusterFaultsOf = (random: Random): Faults => ({
  ...faultsOf(random),
  cut: random.chance(0.5) ? random.next() * 0.05 : 0,
  directoryOutages: random.chance(0.3) ? random.between(1, 2) : 0,
  drains: random.chance(0.4) ? random.between(1, 3) : 0,
})
