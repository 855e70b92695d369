import type { WebhookNotice } from '#actors/webhooks/notify.ts'
import { timestampOf } from '#records/row-times.ts'
import { isObject } from '#runtime/index.ts'
import type { ResultOf } from '#specs/index.ts'
import type { Json, JsonObject } from '#storage/index.ts'

type Run = ResultOf<'runs.get'>
/** A run as a task of A2A. */
export type A2aTask = ResultOf<'a2a.task'>
type State = A2aTask['status']['state']

/** States of tasks by the status of their runs. */
const states: Readonly<Record<Run['status'], State>> = {
  queued: 'TASK_STATE_SUBMITTED',
  running: 'TASK_STATE_WORKING',
  requires_action: 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  cancelled: 'TASK_STATE_CANCELED',
  expired: 'TASK_STATE_FAILED',
}

/** The state of a run's task. */
export const stateOf = (status: Run['status']): State => states[status]

/** The statuses of runs whose tasks have a state. */
export const runStatusOf = (state: string): Run['status'] | undefined => {
  for (const [status, its] of Object.entries(states)) if (its === state && isStatus(status)) return status
  return undefined
}

const isStatus = (text: string): text is Run['status'] => Object.hasOwn(states, text)

/** A call that a run waits for. */
export interface WaitingCall {
  readonly action_id: string
  readonly tool: string
  readonly reason: string
  readonly arguments: Json
  readonly input?: Json | undefined
  readonly connection?: Json | undefined
}

/** The message of a task that waits for calls. */
export const waitingMessage = (task: string, contextId: string, calls: readonly WaitingCall[]) => ({
  messageId: `${task}_${calls[0]?.action_id ?? ''}`,
  contextId,
  taskId: task,
  role: 'ROLE_AGENT' as const,
  parts: calls.flatMap((call) => [{ text: wordsOf(call) }, { data: { ...call } }]),
})

const wordsOf = ({ reason, tool, input }: WaitingCall): string => {
  if (reason === 'tool_output_required') return `Run ${tool}, and send its output.`
  if (reason === 'connection_required') return `${tool} waits for a connection.`
  if (isObject(input) && typeof input.message === 'string') return input.message
  return `Approve or reject the call of ${tool}.`
}

/** The state of a task that waits for these calls. */
export const waitingState = (calls: readonly WaitingCall[]): State =>
  calls.length > 0 && calls.every(({ reason }) => reason === 'connection_required')
    ? 'TASK_STATE_AUTH_REQUIRED'
    : 'TASK_STATE_INPUT_REQUIRED'

/** The artifact of a completed run. */
export const outputArtifact = (output: Json) => {
  const { text, ...rest } = isObject(output) ? output : {}
  const words = typeof text === 'string' ? [{ text }] : []
  const more = Object.keys(rest).length > 0 ? [{ data: rest }] : []
  return { artifactId: 'output', name: 'output', parts: [...words, ...more] }
}

/** The message of a task that ended with an error. */
export const errorMessage = (task: string, contextId: string, error: JsonObject) => ({
  ...{ messageId: `${task}_error`, contextId, taskId: task, role: 'ROLE_AGENT' as const },
  parts: [{ text: String(error.message) }, { data: { code: error.code ?? null } }],
})

/** What a caller wants of a task. */
export interface TaskView {
  /** Maximum number of messages; absent: all. */
  readonly historyLength?: number | undefined
  readonly includeArtifacts?: boolean | undefined
}

/** A task as far as a caller wants it. */
export const viewOf = ({ artifacts, history, ...task }: A2aTask, view: TaskView): A2aTask => ({
  ...task,
  ...(artifacts !== undefined && view.includeArtifacts !== false && { artifacts }),
  ...(history !== undefined && view.historyLength !== 0 && { history }),
})

/** Builds the task of a run. */
export const a2aTask = (run: Run, contextId: string, calls: readonly WaitingCall[]): A2aTask => {
  const { id, status, output, error, input, updated_at } = run
  const state = status === 'requires_action' ? waitingState(calls) : states[status]
  const waits = status === 'requires_action' && { message: waitingMessage(id, contextId, calls) }
  return {
    ...{ id, contextId },
    status: {
      state,
      ...waits,
      ...(error !== null && { message: errorMessage(id, contextId, error) }),
      timestamp: updated_at,
    },
    ...(output !== null && { artifacts: [outputArtifact(output)] }),
    history: [
      { messageId: `${id}_input`, contextId, taskId: id, role: 'ROLE_USER', parts: [{ text: String(input.prompt) }] },
    ],
  }
}

/**
 * The task of a notice about a run. The notice alone decides what it says, so that it says the same however often it is
 * made. What a waiting task waits for, with its arguments, is for those who may read the task.
 */
export const noticedTask = (
  { data, at }: Pick<WebhookNotice, 'data' | 'at'>,
  id: string,
  contextId: string,
): JsonObject => {
  const { status, output, error, action_ids } = data
  const state = isText(status) && isStatus(status) ? states[status] : 'TASK_STATE_WORKING'
  const waits = Array.isArray(action_ids) && { message: waitingNote(id, contextId, action_ids) }
  const failed = isObject(error) && { message: errorMessage(id, contextId, error) }
  return {
    ...{ id, contextId },
    status: { state, ...waits, ...failed, timestamp: timestampOf(at) },
    ...(isObject(output) && { artifacts: [outputArtifact(output)] }),
  }
}

const isText = (value: Json | undefined): value is string => typeof value === 'string'

const waitingNote = (task: string, contextId: string, action_ids: readonly Json[]) => ({
  ...{ messageId: `${task}_${action_ids[0] ?? ''}`, contextId, taskId: task, role: 'ROLE_AGENT' as const },
  parts: [{ text: 'The task waits for you: get it to read for what.' }, { data: { action_ids } }],
})
