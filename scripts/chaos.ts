import { namesOption, positiveOption, readCommandLine, wholeOption } from '#src/start/command-line.ts'
import { runChaos } from './chaos/chaos-run.ts'
import { disturbanceKinds } from './chaos/disturbance-plan.ts'
import { reportOf } from './chaos/report.ts'

/**
 * `npm run chaos -- --minutes 2`: runs three real nodes on a real MongoDB and Redis under load while processes are
 * killed, paused and cut off, then checks that everything acknowledged is still there. Exits with 1 when a promise is
 * broken.
 *
 * `--nodes 3`; `--replicas 3` uses a MongoDB replica set of that size, whose primary is killed; `--seed N` repeats a
 * plan, though not the timing of real processes; `--only kill,pause` limits the kinds of disturbances.
 */
const usage = [
  'usage: npm run chaos -- [--minutes 2] [--nodes 3] [--replicas 1] [--seed N] [--only KIND,…]',
  '',
  'Runs real nodes on a real MongoDB and Redis under load while processes are disturbed, then looks for everything that',
  'was acknowledged. Exits with 1 if a promise is broken.',
  `Kinds of disturbances: ${disturbanceKinds.join(', ')}`,
].join('\n')
const text = { type: 'string' } as const
const given = readCommandLine({
  usage,
  options: { minutes: text, nodes: text, replicas: text, seed: text, only: text },
})
const whole = (name: 'nodes' | 'replicas' | 'seed', otherwise: number): number =>
  wholeOption(usage, name, given[name] ?? String(otherwise))

const outcome = await runChaos({
  seed: whole('seed', Math.floor(Math.random() * 1_000_000) + 1),
  nodes: whole('nodes', 3),
  replicas: whole('replicas', 1),
  ms: positiveOption(usage, 'minutes', given.minutes ?? '2') * 60_000,
  ...(given.only !== undefined && {
    kinds: namesOption({ usage, name: 'only', known: disturbanceKinds }, given.only),
  }),
  say: (line) => console.log(line),
})
console.log(reportOf(outcome).join('\n'))
process.exit(outcome.problems.length === 0 ? 0 : 1)
