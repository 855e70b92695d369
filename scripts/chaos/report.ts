import type { DisturbanceKind } from './disturbance-plan.ts'
import type { Evidence } from './evidence.ts'
import type { Counts } from './node-client.ts'
import { quantile } from './takeovers.ts'
import type { Problem } from './verdict.ts'

/** Results of a run. */
export interface Outcome {
  readonly seed: number
  readonly nodes: number
  readonly seconds: number
  readonly done: Readonly<Record<DisturbanceKind, number>>
  readonly takeoversMs: readonly number[]
  readonly restartsMs: readonly number[]
  /** Takeovers during which nothing else was disturbed. */
  readonly calmTakeoversMs: readonly number[]
  readonly calmRestartsMs: readonly number[]
  /** Rows that were compared with their commits. */
  readonly rows: number
  readonly counts: Readonly<Counts>
  readonly evidence: Evidence
  readonly problems: readonly Problem[]
}

/** Goal in ms for the median takeover of a dead node's sessions, on an otherwise idle machine. */
const takeoverGoalMs = 1000
/**
 * Limit in ms for the median takeover on any machine: a lease expires after 4 s, and the machine may be busy or stall.
 */
export const takeoverMaxMs = 30_000

/** Maximum number of problems that are listed. */
const shown = 40

/** Formats the report of a run. */
export const reportOf = (outcome: Outcome): readonly string[] => {
  const { seed, nodes, seconds, done, takeoversMs, restartsMs, counts, evidence, problems } = outcome
  const { calmTakeoversMs, calmRestartsMs } = outcome
  const interrupted = interruptedIn(evidence)
  const turns = evidence.sessions.flatMap((session) => session.turns).filter(({ acknowledged }) => acknowledged)
  const approved = evidence.gated.filter(({ decision, runs }) => decision === 'approve' && runs !== 'caller')
  const unknown = approved.filter(({ action }) => action?.error?.code === 'outcome_unknown')
  const retries = counts.unavailable + counts.silent + counts.broken
  const of = (kind: Problem['kind']) => problems.filter((problem) => problem.kind === kind).length
  return [
    `chaos: seed ${seed}, ${nodes} nodes, ${seconds} s`,
    `disturbed  ${done.kill} nodes killed, ${done.pause} paused, ${done.restart} restarted; mongod killed ${done.mongod},` +
      ` redis ${done.redis} times; cut off ${done.cut_mongod} times from mongod, ${done.cut_redis} from redis, ${done.cut_peers} from the other nodes`,
    `takeovers  ${takeoversMs.length}, p50 ${ms(quantile(takeoversMs, 0.5))}, max ${ms(Math.max(0, ...takeoversMs))}` +
      ` (goal: p50 under ${ms(takeoverGoalMs)})${calm(calmTakeoversMs)}`,
    `restarts   ${restartsMs.length}, first acknowledged turn p50 ${ms(quantile(restartsMs, 0.5))}, max ${ms(Math.max(0, ...restartsMs))}${calm(calmRestartsMs)}`,
    `requests   ${counts.requests}, ${retries} retries (${counts.unavailable} asked for, ${counts.silent} after silence,` +
      ` ${counts.broken} broken off)`,
    `load       ${evidence.sessions.length} sessions, ${turns.length} turns, ${evidence.plain.length} actions of their own`,
    `tools      ${evidence.gated.length} calls decided or run, ${evidence.toolCalls.length} reached the tool,` +
      ` ${unknown.length} with unknown outcome`,
    `rows       ${outcome.rows} compared with their commits, ${evidence.usage.invoiced} calls in the invoice; ${interrupted} turns interrupted`,
    ...problems.slice(0, shown).map(({ kind, what }) => `${kind.toUpperCase()} ${what}`),
    ...(problems.length > shown ? [`… and ${problems.length - shown} more`] : []),
    `lost ${of('lost')}, doubled ${of('doubled')}, otherwise broken ${of('broken')}`,
  ]
}

/** Counts turns that failed because the process that ran them ended. */
const interruptedIn = ({ sessions }: Evidence): number =>
  sessions
    .flatMap(({ log }) => log ?? [])
    .filter(({ event_type, payload }) => event_type === 'turn.failed' && Object(payload.error).code === 'interrupted')
    .length

/** Disturbances that interrupt no turn: stores that go down and come back, while the nodes keep running. */
const harmless: readonly DisturbanceKind[] = ['mongod', 'redis', 'cut_redis']

/** Checks that turns were interrupted only if nodes were disturbed. */
export const judgeInterrupted = (done: Outcome['done'], evidence: Evidence): readonly Problem[] => {
  const isHarmless = Object.entries(done).every(
    ([kind, times]) => times === 0 || harmless.some((each) => each === kind),
  )
  const count = isHarmless ? interruptedIn(evidence) : 0
  return count === 0 ? [] : [{ kind: 'broken', what: `${count} turns were interrupted although no node was touched` }]
}

/** Checks the takeover times. */
export const judgeFigures = (kills: number, takeoversMs: readonly number[]): readonly Problem[] => {
  const p50 = quantile(takeoversMs, 0.5)
  if (kills > 0 && takeoversMs.length === 0) return [{ kind: 'broken', what: 'no takeover could be measured' }]
  return p50 < takeoverMaxMs ? [] : [{ kind: 'broken', what: `half of all takeovers take ${ms(p50)} or more` }]
}

const calm = (timesMs: readonly number[]): string =>
  `; with nothing else disturbed ${timesMs.length}, p50 ${ms(quantile(timesMs, 0.5))}, max ${ms(Math.max(0, ...timesMs))}`

const ms = (value: number): string => `${Math.round(value)} ms`
