import type { AnsweredInput, ServerToolCall, ToolOutcome } from '#actors/capability/agent-resources.ts'
import type { McpWork } from '#actors/mcp/client/mcp-connection.ts'
import { McpFailure } from '#actors/mcp/client/mcp-failure.ts'
import { isObject } from '#runtime/index.ts'
import type { JsonObject } from '#specs/dsl/json.ts'
import type { ToolRequest } from '../call-tool.ts'
import { outcomeOfResult } from '../tool-output.ts'
import type { HeldCalls } from './held-calls.ts'
import { type CallStep, type ElicitAnswer, LiveCall, type LiveCallStart } from './live-call.ts'
import { type Question, questionOf } from './requested-input.ts'
import { type OpenRequest, type Resume, resumeOf } from './resume.ts'

export interface InputParts {
  readonly guard: McpWork['guard']
  readonly held: HeldCalls
}

/** The parts of an action's call that requests for input need. */
export type InputCall = Pick<ServerToolCall, 'actionId' | 'arguments' | 'signal' | 'input' | 'progress'>

/** Maximum number of requests for input in one call. */
const maxRounds = 8

/** Maximum length in characters of the state from which a call resumes. */
const maxResume = 200_000

const declined = {
  ok: false,
  code: 'input_declined',
  message: 'The person declined what the server requested.',
} as const

/**
 * Calls a tool, or resumes a call whose server requested input. In revisions up to 2025-11-25, the server waits for the
 * input on the connection of the call: the answer is sent there while the connection is open. Otherwise the call is
 * repeated, and when the server repeats the request for input, it is answered immediately. A server of revision
 * 2026-07-28 gets its own state back with the answer.
 *
 * @throws {McpFailure}
 */
export const callWithInput = async (parts: InputParts, call: InputCall, request: ToolRequest): Promise<ToolOutcome> => {
  const start = { guard: parts.guard, request, params: paramsOf(call, request), given: [] }
  if (call.input === undefined) return follow(parts, { call, request, round: 1 }, new LiveCall(start))
  const resume = resumeOf(call.input.resume)
  const step = { call, request, round: resume.round + 1 }
  const answer = elicitAnswer(call.input)
  if (resume.era === 'held') {
    const live = parts.held.take(call.actionId, resume.hash)
    live?.answer(answer)
    if (live !== null) return follow(parts, step, live)
    // a server that does not repeat its request for input would do what the person declined
    if (answer.action !== 'accept') return declined
    return follow(parts, step, new LiveCall({ ...start, given: [...resume.given, { hash: resume.hash, answer }] }))
  }
  const [first, next] = resume.requests
  const responses = first === undefined ? resume.responses : { ...resume.responses, [first.key]: { ...answer } }
  if (resume.again && answer.action !== 'accept') return declined
  if (next !== undefined)
    return inputOutcome(step, next.question, { ...resume, requests: resume.requests.slice(1), responses })
  return follow(parts, step, new LiveCall({ ...start, params: { ...start.params, ...carried(resume, responses) } }))
}

const paramsOf = ({ arguments: given }: InputCall, { tool }: ToolRequest): LiveCallStart['params'] => ({
  name: tool.name,
  arguments: isObject(given) ? { ...given } : {},
})

const elicitAnswer = ({ answer }: AnsweredInput): ElicitAnswer => {
  const { action, content } = answer
  return action === 'accept' ? { action, ...(content !== undefined && { content: contentOf(content) }) } : { action }
}

/** Returns the values of a form. They were validated when they were given (src/actors/sessions/input-values.ts). */
const contentOf = (content: JsonObject): Record<string, string | number | boolean | string[]> =>
  Object.fromEntries(
    Object.entries(content).flatMap(([name, value]): [string, string | number | boolean | string[]][] => {
      if (Array.isArray(value)) return [[name, value.map(String)]]
      const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      return isPlain ? [[name, value]] : []
    }),
  )

/** Returns what a server of revision 2026-07-28 gets back; nothing when the call only has to be repeated. */
const carried = ({ again, state }: Extract<Resume, { era: 'carried' }>, responses: JsonObject): JsonObject =>
  again ? {} : { inputResponses: responses, ...(state !== null && { requestState: state }) }

interface Step {
  readonly call: InputCall
  readonly request: ToolRequest
  readonly round: number
}

const follow = async ({ held }: InputParts, step: Step, live: LiveCall): Promise<ToolOutcome> => {
  const { call, request, round } = step
  const next: CallStep = await live.next(call, request.timeoutMs)
  if (next.kind === 'asked') {
    const { question, hash } = next
    const outcome = inputOutcome(step, question, { era: 'held', hash, given: live.given, round })
    if (outcome.ok || outcome.input === undefined) await live.end()
    else held.keep(call.actionId, live)
    return outcome
  }
  const { result } = next
  if (result.resultType !== 'input_required') return outcomeOfResult(result)
  const requests = requestsOf(result.inputRequests)
  const [first] = requests
  if (first === undefined) return tooLater
  const state = typeof result.requestState === 'string' ? result.requestState : null
  const resume = { era: 'carried', again: result.again === true, state, requests, responses: {}, round } as const
  return inputOutcome(step, first.question, resume)
}

const tooLater = {
  ok: false,
  code: 'server_busy',
  message: 'The server requires the call to be retried later.',
} as const

/** Returns the requests for input in a result. @throws {McpFailure} `bad_answer` for input that a person cannot give */
const requestsOf = (listed: unknown): readonly OpenRequest[] =>
  Object.entries(isObject(listed) ? listed : {})
    .slice(0, maxRounds + 1)
    .map(([key, wanted]) => {
      if (!isObject(wanted) || wanted.method !== 'elicitation/create')
        throw new McpFailure('bad_answer', 'The server requests input of another kind than was offered.')
      return { key, question: questionOf(wanted.params) }
    })

const inputOutcome = ({ request, round }: Step, question: Question, resume: Resume): ToolOutcome => {
  const { server, target } = request
  const text = JSON.stringify({ ...resume, round })
  if (round > maxRounds)
    return { ok: false, code: 'too_many_questions', message: `The server requests input more than ${maxRounds} times.` }
  if (text.length > maxResume)
    return { ok: false, code: 'answer_too_large', message: 'The server requests more input than can be stored.' }
  return {
    ok: false,
    code: 'input_required',
    message: 'The server requests input from a person first.',
    input: { server, server_url: target.url, ...question, round, resume: text },
  }
}
