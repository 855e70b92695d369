import type { Defect } from './defects.ts'
import { simulate } from './simulation.ts'

/** The seed that found a defect, and the violation it caused. */
export interface Finding {
  readonly seed: number
  readonly violation: string
}

/**
 * The first of `max` seeds from `first` on that has a violation because of the defect: without the defect it has none.
 */
export const findingSeed = async (defect: Defect, first: number, max: number): Promise<Finding | null> => {
  const { faults = {}, scenario = 'sessions', nodes = 1 } = defect
  for (let seed = first; seed < first + max; seed++) {
    const [violation] = (await simulate(seed, { defect, scenario, nodes })).violations
    if (violation === undefined) continue
    const sound = await simulate(seed, { defect: { faults }, scenario, nodes })
    if (sound.violations.length === 0) return { seed, violation }
  }
  return null
}
