import type { Evidence, LogRow } from './evidence.ts'
import type { Problem } from './verdict.ts'

/** Checks that every answered model call has one usage row, and that the invoice contains all rows, also of cut calls. */
export const judgeUsage = ({ sessions, usage }: Pick<Evidence, 'sessions' | 'usage'>): readonly Problem[] => {
  const rows = Object.values(usage.rows).reduce((sum, count) => sum + count, usage.interrupted)
  const problems = sessions.flatMap(({ id, log }) => judgeCount(id, log ?? [], usage.rows[id] ?? 0))
  if (rows === usage.invoiced) return problems
  return [...problems, { kind: 'broken', what: `the invoice has ${usage.invoiced} calls, usage ${rows}` }]
}

/** Checks the rows of one session. A failed turn may have had one more answered call than its log shows. */
const judgeCount = (id: string, log: readonly LogRow[], rows: number): readonly Problem[] => {
  const turns = [...Map.groupBy(log, ({ turn_number }) => turn_number).values()]
  const min = turns.reduce((sum, turn) => sum + answersIn(turn), 0)
  const max = min + turns.filter((turn) => has(turn, 'turn.failed')).length
  if (rows < min) return [{ kind: 'lost', what: `${id}: ${rows} rows of usage for ${min} answers` }]
  return rows > max ? [{ kind: 'doubled', what: `${id}: ${rows} rows of usage for at most ${max} answers` }] : []
}

/**
 * Number of answered model calls of a turn. A model that calls a tool is called again with its result: after
 * `tool_call.completed` for a tool of the server, after the approval for one of the caller. After a rejection it is
 * not.
 */
const answersIn = (turn: readonly LogRow[]): number => {
  const called = has(turn, 'tool_call.started')
  if (!has(turn, 'turn.completed')) return called ? 1 : 0
  return called && (has(turn, 'tool_call.completed') || has(afterResume(turn), 'output_text.delta')) ? 2 : 1
}

const afterResume = (turn: readonly LogRow[]): readonly LogRow[] => {
  const resumed = turn.findLastIndex(({ event_type }) => event_type === 'turn.resumed')
  return resumed < 0 ? [] : turn.slice(resumed + 1)
}

const has = (turn: readonly LogRow[], type: string): boolean => turn.some(({ event_type }) => event_type === type)
