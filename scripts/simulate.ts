import { simulate } from '../test/simulation/simulation.ts'

/**
 * `npm run simulate -- --seeds 2000`: runs so many seeds of the deterministic simulation (test/simulation) and prints the
 * trace of the first that breaks a promise. `--seed K` starts at seed K (with `--seeds 1` unless said otherwise).
 */
const option = (name: string): number | undefined => {
  const at = process.argv.indexOf(`--${name}`)
  const value = at < 0 ? Number.NaN : Number(process.argv[at + 1])
  return Number.isInteger(value) ? value : undefined
}

const first = option('seed') ?? 1
const count = option('seeds') ?? (option('seed') === undefined ? 500 : 1)
const verbose = process.argv.includes('--trace')
const startedAt = performance.now()
const totals = { commits: 0, processes: 0, failed: 0 }

for (let seed = first; seed < first + count; seed++) {
  const { violations, trace, commits, processes } = await simulate(seed)
  totals.commits += commits
  totals.processes += processes
  if (verbose || (violations.length > 0 && totals.failed === 0)) console.log(trace.join('\n'))
  if (violations.length === 0) continue
  totals.failed++
  console.log(`seed ${seed} FAILED: ${violations.join('\n  ')}`)
}

const seconds = (performance.now() - startedAt) / 1000
console.log(
  `${count} seeds, ${totals.failed} failed, ${totals.commits} commits, ${totals.processes} processes, ${seconds.toFixed(1)} s`,
)
process.exitCode = totals.failed > 0 ? 1 : 0
