import { runChaos } from './chaos/chaos-run.ts'
import { type DisturbanceKind, disturbanceKinds } from './chaos/disturbance-plan.ts'
import { reportOf } from './chaos/report.ts'

/**
 * `npm run chaos -- --minutes 2`: three real nodes on a real MongoDB and Redis under load, while processes are killed,
 * stopped and cut off; then everything that was acknowledged is looked for. Exits with 1 when a promise broke.
 *
 * `--nodes 3`; `--replicas 3` for a MongoDB of so many, whose primary is killed; `--seed N` repeats a plan, though not the timing of real processes; `--only kill,pause` limits what is done.
 */
const after = (name: string): string | undefined => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? undefined : process.argv[at + 1]
}

const number = (name: string, otherwise: number): number => {
  const value = Number(after(name) ?? otherwise)
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} takes a number above 0`)
  return value
}

const kindsIn = (text: string): readonly DisturbanceKind[] => {
  const unknown = text.split(',').filter((name) => !disturbanceKinds.some((kind) => kind === name))
  if (unknown.length > 0) throw new Error(`--only takes ${disturbanceKinds.join(', ')}`)
  return disturbanceKinds.filter((kind) => text.split(',').includes(kind))
}

const only = after('only')
const outcome = await runChaos({
  seed: number('seed', Math.floor(Math.random() * 1_000_000) + 1),
  nodes: number('nodes', 3),
  replicas: number('replicas', 1),
  ms: number('minutes', 2) * 60_000,
  ...(only !== undefined && { kinds: kindsIn(only) }),
  say: (line) => console.log(line),
})
console.log(reportOf(outcome).join('\n'))
process.exit(outcome.problems.length === 0 ? 0 : 1)
