import { afterEach, expect, it } from 'vitest'
import { simulate } from './simulation.ts'

const realNow = performance.now
afterEach(() => {
  performance.now = realNow
})

/** Makes the process believe that it stands still for 20 ms between any two looks at the time. */
const standStill = (): void => {
  let stood = 0
  performance.now = () => {
    stood += 20
    return realNow.call(performance) + stood
  }
}

it.each([
  ['sessions', 1],
  ['sessions', 3],
  ['runs', 1],
] as const)(
  'the trace of %s on %i processes is the same on a machine that stands still',
  async (scenario, nodes) => {
    const [seed, options] = [1, { scenario, nodes }]
    const { trace } = await simulate(seed, options)
    standStill()
    const slow = await simulate(seed, options)
    expect(slow.trace.join('\n')).toBe(trace.join('\n'))
  },
  60_000,
)
