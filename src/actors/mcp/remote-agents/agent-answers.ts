import type { Part, Task } from '@a2a-js/sdk'
import type { AnsweredInput, ToolOutcome } from '#actors/capability/agent-resources.ts'
import { isObject } from '#runtime/index.ts'
import type { JsonObject } from '#specs/dsl/json.ts'
import { type Question, questionOf } from '../agents/input/requested-input.ts'
import { outcomeOfResult } from '../agents/tool-output.ts'

/** States of tasks in the client of A2A, whose enumeration would be another module to load. */
const states = { completed: 3, failed: 4, cancelled: 5, input: 6, rejected: 7, auth: 8 } as const
const settled: ReadonlySet<number> = new Set(Object.values(states))

/** What an agent requires before its task continues. `auth`: a sign-in elsewhere, so that no message answers it. */
export interface Required {
  readonly kind: 'approval' | 'form' | 'text' | 'auth'
  readonly question: Question
  /** The call that the answer is for, where the agent names it; else ''. */
  readonly call: string
  /** Identifies the question, so that it is not put again before its answer has arrived. */
  readonly mark: string
}

/** Whether a task has ended or waits, other than for what `mark` has answered. */
export const isSettled = ({ status }: Pick<Task, 'status'>, mark: string | null): boolean =>
  status !== undefined && settled.has(status.state) && !(waits(status.state) && markOf({ status }) === mark)

const waits = (state: number): boolean => state === states.input || state === states.auth

const markOf = ({ status }: Pick<Task, 'status'>): string =>
  JSON.stringify([status?.state, status?.timestamp ?? null, status?.message?.messageId ?? null])

/** Returns what a task requires; null when it does not wait. @throws {McpFailure} `bad_answer` */
export const requiredOf = ({ status }: Task): Required | null => {
  if (status === undefined || !waits(status.state)) return null
  const parts = status.message?.parts ?? []
  const message = textOf(parts) || 'The agent requires input.'
  const [data] = parts.flatMap(({ content }) =>
    content?.$case === 'data' && isObject(content.value) ? [content.value] : [],
  )
  const place = { call: typeof data?.action_id === 'string' ? data.action_id : '', mark: markOf({ status }) }
  if (status.state === states.auth) {
    const url = isObject(data?.connection) ? data.connection.authorize_url : null
    const shown = typeof url === 'string' ? { mode: 'url', url } : { requestedSchema: { properties: {} } }
    return { kind: 'auth', question: questionOf({ message, ...shown }), ...place }
  }
  const kind = data?.reason === 'approval_required' ? 'approval' : isObject(data?.input) ? 'form' : 'text'
  const form = isObject(data?.input) ? data.input.schema : undefined
  const properties = kind === 'approval' ? { approved: { type: 'boolean' } } : { answer: { type: 'string' } }
  const requestedSchema = kind === 'form' ? form : { properties, required: Object.keys(properties) }
  return { kind, question: questionOf({ message, requestedSchema }), ...place }
}

/** Returns the message with which a person's answer is sent; null where none is sent. */
export const answerPart = ({ kind, call }: Pick<Required, 'kind' | 'call'>, { answer }: AnsweredInput): Part | null => {
  if (kind === 'auth') return null
  const content: JsonObject = answer.action === 'accept' ? (answer.content ?? {}) : { approved: false }
  if (kind === 'text') return textPart(String(content.answer ?? ''))
  const value = { ...(call !== '' && { action_id: call }), ...content }
  return { content: { $case: 'data', value }, ...plain }
}

const plain = { metadata: undefined, filename: '', mediaType: '' } as const

/** Returns a text as a part of a message. */
export const textPart = (value: string): Part => ({ content: { $case: 'text', value }, ...plain })

/** Returns the outcome of a task that has ended. */
export const outcomeOfTask = ({ status, artifacts }: Task): ToolOutcome => {
  const words = status?.message?.parts ?? []
  if (status?.state === states.cancelled)
    return { ok: false, code: 'agent_cancelled', message: 'The agent cancelled the task.' }
  const produced = (artifacts ?? []).flatMap(({ parts }) => parts ?? [])
  const isDone = status?.state === states.completed
  const outcome = outcomeOfParts(isDone && produced.length > 0 ? produced : words)
  if (isDone || !outcome.ok) return outcome
  return { ok: false, code: 'agent_failed', message: outcome.output || 'The agent failed without a reason.' }
}

/** Returns the parts of a result as the model reads them: of a file its name, type and size. */
export const outcomeOfParts = (parts: readonly Part[]): ToolOutcome =>
  outcomeOfResult({ content: parts.map((part) => ({ type: 'text', text: partText(part) })) })

const partText = ({ content, filename, mediaType }: Part): string => {
  if (content?.$case === 'text') return String(content.value)
  if (content?.$case === 'data') return JSON.stringify(content.value) ?? ''
  if (content?.$case === 'url') return `[file ${filename} ${mediaType} ${content.value}]`
  return content === undefined ? '' : `[file ${filename} ${mediaType}, ${content.value.length} bytes]`
}

/** Returns the texts among parts. */
export const textOf = (parts: readonly Part[]): string =>
  parts.flatMap(({ content }) => (content?.$case === 'text' ? [String(content.value)] : [])).join('\n')
