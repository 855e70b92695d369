import type { Json, JsonObject } from '#storage/index.ts'
import type { TypedKind } from '../records/schema.ts'
import { derivedId, isObject } from '../runtime/index.ts'
import type { Ledger } from '../runtime/internal.ts'
import { ranTool } from './tool-calls.ts'

export type FailureData = {
  readonly actor: string
  readonly machine: string
  /** Error code; the name of the event or state if the machine gives none. */
  readonly code: string
  readonly message: string
  /** Tool that failed; absent for other failures, and in rows of earlier releases. */
  readonly tool?: string
  /**
   * Innermost states before and after the failed step; null when the step changed no state. Absent in rows of earlier
   * releases.
   */
  readonly moved?: readonly [from: string | null, to: string] | null
}

/** Failures, one row for each commit that reports one. Rows expire after a week. */
export const failureRows: TypedKind<FailureData> = { name: 'failures', filters: ['code', 'tool'], exported: null }

/** Prefix of the ids of failures. */
export const failurePrefix = 'flr'

/** How long failures are kept, in ms: 7 days. */
const failureRetentionMs = 7 * 24 * 60 * 60 * 1000

const maxMessageLength = 500

type Why = Pick<FailureData, 'code' | 'message' | 'tool'>

/** Why a commit is a failure: of the tool that it has the result of, of its log, or of its state; null if it is none. */
export const failureOf = (commit: Parameters<Ledger>[0]): Why | null =>
  failedTool(commit) ?? loggedFailure(commit.events) ?? enteredFailure(commit)

/** Returns one row for each commit that reports a failure. */
export const failureLedger: Ledger = (commit, { user }) => {
  const why = failureOf(commit)
  if (why === null) return []
  const { actor, seq, at, project, tenant, machine, moved = null } = commit
  const data: FailureData = { actor, machine: machine.split('@')[0] ?? '', ...why, moved }
  const times = { version: 1, created_at: at, updated_at: at, expires_at: at + failureRetentionMs }
  const id = derivedId(failurePrefix, at, `${actor}:${seq}`)
  return [{ kind: failureRows, record: { id, project, tenant, user, ...times, data } }]
}

const failedTool = ({ event, events }: Parameters<Ledger>[0]): Why | null => {
  const ran = ranTool(event)
  if (ran !== null) return ran.error === null ? null : { ...whyOf(ran.error, ''), tool: ran.tool }
  // after a crash, the result says only that the outcome is unknown
  const answered = event.type === 'tool_answered' ? events.find(({ event_type }) => isAnswer(event_type)) : undefined
  if (answered === undefined || !textOf(answered.payload.output).includes('"outcome_unknown"')) return null
  const message = 'The tool was called, but the outcome is unknown.'
  return { code: 'outcome_unknown', message, tool: textOf(answered.payload.tool) }
}

const isAnswer = (event: string): boolean => event.endsWith('tool_call.completed')

const loggedFailure = (events: Parameters<Ledger>[0]['events']): Why | null => {
  // failures in the copied history of a fork occurred in another session
  if (events[0]?.event_type === 'session.forked') return null
  const failed = events.find(({ event_type }) => event_type.endsWith('failed'))
  if (failed === undefined) return null
  const { error } = failed.payload
  return whyOf(isObject(error) ? error : failed.payload, failed.event_type)
}

/** Reads the error from the event: delivery attempts and actions name it there. */
const enteredFailure = ({ moved, event }: Parameters<Ledger>[0]): Why | null => {
  const leaf = moved?.[1].slice(moved[1].lastIndexOf('.') + 1)
  if (leaf !== 'failed' && leaf !== 'expired') return null
  const { error } = event
  if (isObject(error)) return whyOf(error, leaf)
  return whyOf({ code: event.code ?? leaf, message: event.message ?? error ?? event.reason ?? '' }, leaf)
}

const whyOf = ({ code, message }: JsonObject, otherwise: string): Why => ({
  code: textOf(code) || otherwise,
  message: textOf(message).slice(0, maxMessageLength),
})

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
