import type { Frame } from '../quickstart/sse-lines.ts'
import type { Evidence, LogRow, RequestedTurn, SessionEvidence } from './evidence.ts'
import { judgePlain, judgeTools } from './tool-verdict.ts'
import { judgeUsage } from './usage-verdict.ts'

/** Kind of a broken promise: something is missing, exists twice, or differs from what was promised. */
type Breach = 'lost' | 'doubled' | 'broken'

/** One broken promise. */
export interface Problem {
  readonly kind: Breach
  readonly what: string
}

/** Returns every promise that the evidence shows to be broken; empty when all were kept. */
export const judge = (evidence: Evidence): readonly Problem[] => [
  ...evidence.sessions.flatMap(judgeSession),
  ...judgeTools(evidence),
  ...evidence.plain.flatMap(judgePlain),
  ...judgeUsage(evidence),
]

const judgeSession = (session: SessionEvidence): readonly Problem[] => {
  const { id, log } = session
  if (log === null) return [{ kind: 'lost', what: `${id}: its log cannot be read` }]
  return [
    ...sequences(log),
    ...turns(session, log),
    ...endings(session, log),
    ...seen('its client', session.frames, log),
    ...seen('its watcher', session.watched, log),
    ...(session.watching ? unseen(session.watched, log) : []),
    ...views(session, log),
  ].map(({ kind, what }) => ({ kind, what: `${id}: ${what}` }))
}

const isStart = ({ event_type }: LogRow): boolean => event_type === 'turn.started'
const isEnd = ({ event_type }: LogRow): boolean => event_type === 'turn.completed' || event_type === 'turn.failed'

/** Events that may follow a gap: a new owner leaves out what the one before may have shown of an answer. */
const afterGap: readonly string[] = ['turn.restarted', 'turn.failed']

/** Sequences are gapless from 1, except where a crash cut an answer. */
const sequences = (log: readonly LogRow[]): readonly Problem[] => {
  const at = log.findIndex(({ sequence, event_type }, index) => {
    const next = (log[index - 1]?.sequence ?? 0) + 1
    return sequence < next || (sequence > next && !afterGap.includes(event_type))
  })
  const row = log[at]
  return row === undefined
    ? []
    : [{ kind: 'broken', what: `sequence ${row.sequence} follows ${log[at - 1]?.sequence}` }]
}

/** An acknowledged turn is in the log exactly once; an unacknowledged one at most once. */
const turns = ({ turns: requested }: SessionEvidence, log: readonly LogRow[]): readonly Problem[] => {
  const started = log.filter(isStart)
  const problems = requested.flatMap(({ token, acknowledged }): readonly Problem[] => {
    const times = started.filter(({ payload }) => String(payload.input_text).includes(token)).length
    if (times > 1) return [{ kind: 'doubled', what: `turn ${token} is in the log ${times} times` }]
    return times === 0 && acknowledged ? [{ kind: 'lost', what: `turn ${token} was acknowledged` }] : []
  })
  const foreign = started.filter(({ payload }) => !requested.some(({ token }) => names(payload.input_text, token)))
  return [...problems, ...foreign.map(({ sequence }) => broken(`nobody asked for the turn at ${sequence}`))]
}

/** Each turn ends once, its output equals the text of its deltas, and a completed turn answers its own question. */
const endings = ({ turns: requested }: SessionEvidence, log: readonly LogRow[]): readonly Problem[] =>
  log.filter(isStart).flatMap((start) => {
    const rows = log.filter(({ turn_number }) => turn_number === start.turn_number)
    const ends = rows.filter(isEnd)
    const turn = requested.find(({ token }) => names(start.payload.input_text, token))
    const end = ends[0]
    if (end === undefined) return [broken(`turn ${start.turn_number} never ended`)]
    if (ends.length > 1) return [{ kind: 'doubled', what: `turn ${start.turn_number} ended ${ends.length} times` }]
    return [...textProblems(start.turn_number, rows, end), ...answerProblems(turn, end)]
  })

const textProblems = (turn: number | null, rows: readonly LogRow[], end: LogRow): readonly Problem[] => {
  const restarted = rows.findLastIndex(({ event_type }) => event_type === 'turn.restarted')
  const deltas = rows.slice(restarted + 1).filter(({ event_type }) => event_type === 'output_text.delta')
  const text = deltas.map(({ payload }) => payload.delta).join('')
  const output = end.event_type === 'turn.completed' ? end.payload.output : Object(end.payload.output).text
  return output === text ? [] : [broken(`the deltas of turn ${turn} are not its output`)]
}

/** Allowed reasons for a failed turn: the process that ran it ended, or its client cancelled it. */
const goodFailures: readonly unknown[] = ['interrupted', 'cancelled']

const answerProblems = (turn: RequestedTurn | undefined, { event_type, payload }: LogRow): readonly Problem[] => {
  if (turn === undefined) return []
  if (event_type === 'turn.failed') {
    const { code } = Object(payload.error)
    return goodFailures.includes(code) ? [] : [broken(`turn ${turn.token} failed with ${code}`)]
  }
  const { token, output } = turn
  if (output === null || names(payload.output, 'outcome_unknown')) return []
  const isGood = output === 'token' ? names(payload.output, token) : payload.output === output
  return isGood ? [] : [broken(`turn ${token} has an answer that is not its own: ${payload.output}`)]
}

/**
 * Received frames match the log: none is missing from it, repeated, or skipped before the last one. Text of an answer
 * that a crash cut may have been received without being in the log; the log then goes on after a gap.
 */
const seen = (who: string, frames: readonly Frame[], log: readonly LogRow[]): readonly Problem[] => {
  const torn = frames.find(({ id }, at) => at > 0 && Number(id) <= Number(frames[at - 1]?.id))
  if (torn !== undefined) return [{ kind: 'doubled', what: `${who} saw event ${torn.id} twice, or late` }]
  const rows = new Map(log.map((row) => [row.sequence, row]))
  const ids = new Set(frames.map(({ id }) => Number(id)))
  const last = Number(frames.at(-1)?.id ?? 0)
  const skipped = log.find(({ sequence }) => sequence < last && !ids.has(sequence))
  if (skipped !== undefined) return [broken(`${who} saw event ${last}, and not ${skipped.sequence}`)]
  const newest = log.at(-1)?.sequence ?? 0
  return frames.flatMap((frame) => {
    const row = rows.get(Number(frame.id))
    if (row === undefined && isText(frame) && Number(frame.id) < newest) return []
    if (row === undefined) return [{ kind: 'lost', what: `${who} saw event ${frame.id}, the log has it not` }]
    return sameEvent(frame, row) ? [] : [broken(`${who} saw event ${frame.id} other than it is in the log`)]
  })
}

const isText = ({ event }: Frame): boolean => event.endsWith('output_text.delta')

const unseen = (frames: readonly Frame[], log: readonly LogRow[]): readonly Problem[] => {
  const ids = new Set(frames.map(({ id }) => Number(id)))
  const missed = log.filter(({ sequence }) => !ids.has(sequence)).length
  return missed === 0 ? [] : [broken(`its watcher missed ${missed} of ${log.length} events`)]
}

const sameEvent = ({ event, data }: Frame, { event_type, payload }: LogRow): boolean =>
  (event === event_type || event === `response.${event_type}`) && JSON.stringify(data) === JSON.stringify(payload)

/** The session's own resource and its row in the list agree with the log. */
const views = ({ session, listed }: SessionEvidence, log: readonly LogRow[]): readonly Problem[] => {
  const count = log.filter(isStart).length
  return Object.entries({ read: session, list: listed }).flatMap(([name, view]): readonly Problem[] => {
    if (view === null) return [{ kind: 'lost', what: `the ${name} has it not` }]
    if (view.turn_count !== count) return [broken(`the ${name} says ${view.turn_count} turns, the log ${count}`)]
    return view.status === 'paused' ? [broken(`the ${name} says that it waits`)] : []
  })
}

const names = (text: unknown, token: string): boolean => String(text).includes(token)

const broken = (what: string): Problem => ({ kind: 'broken', what })
