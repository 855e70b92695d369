import { namesOption, positiveOption, readCommandLine, wholeOption } from '#src/start/command-line.ts'
import { runChaos } from './chaos/chaos-run.ts'
import { disturbanceKinds } from './chaos/disturbance-plan.ts'
import { reportOf } from './chaos/report.ts'
import { killStreams } from './chaos/streams/stream-kills.ts'
import { streamReport } from './chaos/streams/stream-report.ts'

/**
 * `npm run chaos -- --minutes 2`: runs three real nodes on a real MongoDB and Redis under load while processes are
 * killed, paused and cut off, then checks that everything acknowledged is still there. Exits with 1 when a promise is
 * broken.
 *
 * `--nodes 3`; `--replicas 3` uses a MongoDB replica set of that size, whose primary is killed; `--seed N` repeats a
 * plan, though not the timing of real processes; `--only kill,pause` limits the kinds of disturbances.
 *
 * `--streams 50` kills a process `--kills 20` times while that many turns, responses and runs are answered, on three
 * nodes, or on SQLite with `--nodes 1`.
 */
const usage = [
  'usage: npm run chaos -- [--minutes 2] [--nodes 3] [--replicas 1] [--seed N] [--only KIND,…]',
  '       npm run chaos -- --streams 50 [--kills 20] [--nodes 3]',
  '',
  'Runs real nodes on a real MongoDB and Redis under load while processes are disturbed, then looks for everything that',
  'was acknowledged. Exits with 1 if a promise is broken.',
  'With --streams, a process is killed while that many turns, responses and runs are answered, and what each of their',
  'readers has received is judged;',
  '--nodes 1 is one server on SQLite.',
  `Kinds of disturbances: ${disturbanceKinds.join(', ')}`,
].join('\n')
const text = { type: 'string' } as const
const given = readCommandLine({
  usage,
  options: { minutes: text, nodes: text, replicas: text, seed: text, only: text, streams: text, kills: text },
})
const whole = (name: 'nodes' | 'replicas' | 'seed' | 'streams' | 'kills', otherwise: number): number =>
  wholeOption(usage, name, given[name] ?? String(otherwise))

if (given.streams !== undefined) {
  const say = (line: string) => console.log(line)
  const sizes = { streams: whole('streams', 50), kills: whole('kills', 20), nodes: whole('nodes', 3) }
  const { lines, isGood } = streamReport(await killStreams({ ...sizes, say }))
  console.log(lines.join('\n'))
  process.exit(isGood ? 0 : 1)
}

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
