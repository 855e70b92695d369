import type { Message, Part, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { pause, systemClock } from '#runtime/index.ts'
import { failureOf, McpFailure } from '../client/mcp-failure.ts'
import { isSettled, textOf } from './agent-answers.ts'

/** A message to an agent. */
export interface SentMessage {
  /** The same whenever the message is sent. */
  readonly messageId: string
  /** The task that it answers; null to begin one. */
  readonly taskId: string | null
  readonly part: Part
}

/** One conversation with an agent, which ends with `signal`. */
export interface TaskParts {
  readonly client: Client
  readonly signal: AbortSignal
  readonly streaming: boolean
  /** The question that has been answered, as the task showed it; null for none. */
  readonly answered: string | null
  /** Records the task as soon as the agent names it. */
  readonly named: (task: string) => Promise<void>
  readonly report: (words: string) => void
}

/** Delays between checks of a task, in ms, and how many checks in a row may fail. */
const checks = { firstMs: 150, factor: 1.5, maxMs: 5000, maxFailures: 5 } as const

/** Sends a message. @returns the id of its task, or the agent's reply where it began none. */
export const sendMessage = async (parts: TaskParts, message: SentMessage): Promise<string | Message> => {
  const { client, signal, named } = parts
  if (parts.streaming) {
    const { task, reply } = await watched(parts, client.sendMessageStream(requestOf(message), { signal }))
    if (reply !== null) return reply
    if (task !== null) return task
    throw new McpFailure('bad_answer', 'The agent answered neither with a task nor with a message.')
  }
  const result = await client.sendMessage(requestOf(message), { signal })
  if ('parts' in result) return result
  await named(idOf(result.id))
  return result.id
}

/** Follows a task until it has ended or waits: over a stream where the agent has one, else by checks. */
export const followTask = async (parts: TaskParts, id: string): Promise<Task> => {
  const { client, signal, streaming, answered } = parts
  let waitMs: number = checks.firstMs
  for (let failures = 0; ; ) {
    try {
      const task = await client.getTask({ tenant: '', id, historyLength: 0 }, { signal })
      if (isSettled(task, answered)) return task
      failures = 0
      if (streaming && (await watched(parts, client.resubscribeTask({ tenant: '', id }, { signal }))).isOver) continue
    } catch (error) {
      if (signal.aborted || !isPassing(error) || ++failures > checks.maxFailures) throw error
    }
    await pause(systemClock, waitMs, signal)
    waitMs = Math.min(waitMs * checks.factor, checks.maxMs)
  }
}

interface Watched {
  readonly task: string | null
  readonly reply: Message | null
  /** Whether the task has ended or waits. */
  readonly isOver: boolean
}

/** Reads a stream of a task. A stream that breaks after the task is known has only to be followed. */
const watched = async (parts: TaskParts, stream: AsyncIterable<StreamResponse>): Promise<Watched> => {
  let task: string | null = null
  try {
    for await (const { payload } of stream) {
      if (payload === undefined) continue
      if (payload.$case === 'message') return { task, reply: payload.value, isOver: true }
      const { value } = payload
      if (task === null) {
        task = idOf('taskId' in value ? value.taskId : value.id)
        await parts.named(task)
      }
      if (!('status' in value)) continue
      if (value.status?.message !== undefined) parts.report(textOf(value.status.message.parts))
      if (isSettled(value, parts.answered)) return { task, reply: null, isOver: true }
    }
  } catch (error) {
    if (task === null || parts.signal.aborted || !isPassing(error)) throw error
  }
  return { task, reply: null, isOver: false }
}

/** Whether a later attempt may succeed: the agent did not refuse the request, nor violate a limit. */
const isPassing = (error: unknown): boolean => {
  const { isFinal, code } = failureOf(error, { timeoutMs: 0 })
  return !isFinal && code !== 'request_refused'
}

const maxId = 512

const idOf = (id: unknown): string => {
  if (typeof id === 'string' && id !== '' && id.length <= maxId) return id
  throw new McpFailure('bad_answer', 'The agent named no task.')
}

const requestOf = ({ messageId, taskId, part }: SentMessage): SendMessageRequest => ({
  tenant: '',
  message: {
    ...{ messageId, contextId: '', taskId: taskId ?? '', role: userRole, parts: [part] },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  },
  configuration: {
    ...{ acceptedOutputModes: [], taskPushNotificationConfig: undefined, historyLength: 0 },
    returnImmediately: true,
  },
  metadata: undefined,
})

/** `Role.ROLE_USER`, whose enumeration would be another module to load. */
const userRole = 1
