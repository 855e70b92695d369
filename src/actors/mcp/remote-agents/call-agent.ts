import type { ServerToolCall, ToolOutcome } from '#actors/capability/agent-resources.ts'
import { endedByMachine, isObject } from '#runtime/index.ts'
import type { ToolRequest } from '../agents/call-tool.ts'
import { ProgressReports } from '../agents/input/progress-reports.ts'
import { McpFailure } from '../client/mcp-failure.ts'
import type { WireWork } from '../client/wire.ts'
import { answerPart, outcomeOfParts, outcomeOfTask, type Required, requiredOf, textPart } from './agent-answers.ts'
import type { AgentCalls } from './agent-calls.ts'
import { type AgentEndpoint, endpointOf } from './agent-endpoint.ts'
import { followTask, type SentMessage, sendMessage, type TaskParts } from './agent-task.ts'
import { type CalledAgent, withAgent } from './agent-wire.ts'

export interface AgentCallParts {
  readonly guard: WireWork['guard']
  readonly calls: AgentCalls
  /** ms since the epoch. */
  readonly now: () => number
}

/** A request to an agent, with the id of its server. */
export interface AgentRequest extends ToolRequest {
  readonly serverId: string
}

/** State from which a call goes on after a person answered. Only this file writes it. */
type Resume = Omit<Required, 'question'> & { readonly round: number; readonly task: string }

/** Maximum number of questions in one call, and the time for cancelling a task, in ms. */
const maxRounds = 8
const cancelMs = 5000

/**
 * Delegates to an agent. The task is recorded as soon as the agent names it, and a call that is made again continues it: a
 * message whose fate is unknown is sent again only to an agent that recognises it.
 *
 * @throws {McpFailure}
 */
export const callAgent = async (
  parts: AgentCallParts,
  call: ServerToolCall,
  request: AgentRequest,
): Promise<ToolOutcome> => {
  const endpoint = endpointOf(request.tool.annotations ?? null)
  const resume: Resume | null = call.input === undefined ? null : JSON.parse(call.input.resume)
  const message = messageOf(call, resume)
  if (endpoint === null || message === 'no_task')
    return { ok: false, code: 'invalid_field', message: 'The argument task says what to do.' }
  const place = { ...call, serverId: request.serverId }
  const agent = { endpoint, headers: request.target.headers }
  const isDeclined = call.input !== undefined && call.input.answer.action !== 'accept'
  if (resume !== null && isDeclined && resume.kind !== 'approval') {
    await cancelTask(parts, agent, resume.task)
    return { ok: false, code: 'input_declined', message: 'The person declined what the agent requested.' }
  }
  const round = (resume?.round ?? 0) + 1
  const begun = await parts.calls.begun(place, round)
  const timeoutMs = Math.max(1, begun.sent_at_ms + request.timeoutMs - parts.now())
  const reports = call.progress === undefined ? null : new ProgressReports(call.progress)
  try {
    const outcome = await withAgent(agent, { guard: parts.guard, timeoutMs, signal: call.signal }, (client, signal) => {
      let progress = 0
      const talk: TaskParts = {
        ...{ client, signal, streaming: endpoint.streaming, answered: resume?.mark ?? null },
        named: (task) => parts.calls.named(place, task),
        report: (words) => reports?.add({ progress: ++progress, message: words }),
      }
      return talked({ talk, endpoint, request, round }, { ...begun, message })
    })
    if (outcome.ok || outcome.input === undefined) await parts.calls.ended(place)
    return outcome
  } catch (error) {
    // a refused message began nothing, and is sent again with other credentials
    if (error instanceof McpFailure && error.challenge !== null) await parts.calls.refused(place, round)
    if (isAbandoned(error, call.signal)) {
      const task = (await parts.calls.find(place))?.data.task_id ?? null
      if (task !== null) await cancelTask(parts, agent, task)
    }
    throw error
  } finally {
    await reports?.end()
  }
}

/** Returns the message of a call; null where only its task is followed. */
const messageOf = (
  { actionId, arguments: given, input }: ServerToolCall,
  resume: Resume | null,
): SentMessage | 'no_task' | null => {
  if (input !== undefined && resume !== null) {
    const part = answerPart(resume, input)
    return part && { messageId: `${actionId}.${resume.round + 1}`, taskId: resume.task, part }
  }
  const task = isObject(given) && typeof given.task === 'string' ? given.task : ''
  return task === '' ? 'no_task' : { messageId: `${actionId}.1`, taskId: null, part: textPart(task) }
}

interface Talk {
  readonly talk: TaskParts
  readonly endpoint: AgentEndpoint
  readonly request: AgentRequest
  readonly round: number
}

interface Begun {
  readonly message: SentMessage | null
  readonly task_id: string | null
  readonly isRepeated: boolean
}

const unknown: ToolOutcome = {
  ok: false,
  code: 'outcome_unknown',
  message: 'The agent was called, but whether it began a task is unknown. It is not called again.',
}

const talked = async ({ talk, endpoint, request, round }: Talk, begun: Begun): Promise<ToolOutcome> => {
  const { message, task_id, isRepeated } = begun
  let id = task_id
  if (message !== null && (!isRepeated || (id === null && endpoint.repeats) || (await stillWaits(talk, message)))) {
    const sent = await sendMessage(talk, message)
    if (typeof sent !== 'string') return outcomeOfParts(sent.parts ?? [])
    id = sent
  }
  if (id === null) return unknown
  const task = await followTask(talk, id)
  const required = requiredOf(task)
  if (required === null) return outcomeOfTask(task)
  if (round > maxRounds)
    return { ok: false, code: 'too_many_questions', message: `The agent requests input more than ${maxRounds} times.` }
  const { question, ...rest } = required
  const resume: Resume = { ...rest, round, task: id }
  const shown = { server: request.server, server_url: endpoint.url, ...question, round, resume: JSON.stringify(resume) }
  return { ok: false, code: 'input_required', message: 'The agent requests input from a person first.', input: shown }
}

/** Whether an answer did not arrive before a crash: its task still shows the question. */
const stillWaits = async ({ client, signal, answered }: TaskParts, { taskId }: SentMessage): Promise<boolean> => {
  if (taskId === null || answered === null) return false
  const task = await client.getTask({ tenant: '', id: taskId, historyLength: 0 }, { signal })
  return requiredOf(task)?.mark === answered
}

/** Whether no one will read the result: a call that its turn cancelled, or that exceeded a limit. A shutdown continues. */
const isAbandoned = (error: unknown, signal: AbortSignal): boolean => {
  if (!(error instanceof McpFailure)) return false
  return signal.aborted ? signal.reason === endedByMachine : ['timeout', 'answer_too_large'].includes(error.code)
}

/** Cancels a task. An agent that cannot do so ends it by itself. */
export const cancelTask = async (
  { guard }: Pick<AgentCallParts, 'guard'>,
  agent: CalledAgent,
  id: string,
): Promise<void> => {
  const work = { guard, timeoutMs: cancelMs, signal: new AbortController().signal }
  await withAgent(agent, work, (client, signal) =>
    client.cancelTask({ tenant: '', id, metadata: undefined }, { signal }),
  ).catch(() => {})
}
