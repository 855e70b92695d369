import type { ChatBody, ChatSummary } from '#gateway/call/chat-calls.ts'
import { addCosts } from '#gateway/prices/money.ts'
import { addUsage, type TokenUsage } from '#gateway/prices/usage.ts'
import { pausedTurn } from '#gateway/providers/anthropic/anthropic-usage.ts'
import { arrayOf, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { given } from '../chat-parts.ts'
import type { RemoteServers } from './remote/remote-servers.ts'
import type { ResponseOutput, SearchCall } from './response-output.ts'
import type { ResponsePlan } from './response-plan.ts'
import { searchToolName } from './response-tools.ts'
import type { ServerSearch, ToolPlace } from './searches/server-search.ts'
import { hostedToolsField, searchToolField } from './upstream-request.ts'

/** Calls the model once. `onChoice` receives the choice of each chunk, or the whole one. @throws {ServiceError} */
export type CallModel = (body: ChatBody, onChoice: (choice: WireObject) => void) => Promise<ChatSummary>

/** Dependencies of {runResponse}. */
export interface RunParts {
  readonly plan: ResponsePlan
  readonly output: ResponseOutput
  readonly callModel: CallModel
  readonly searches: readonly ServerSearch[]
  /** The remote servers; their tools are among `searches`. */
  readonly remote: Pick<RemoteServers, 'begin' | 'show'>
  readonly signal: AbortSignal
}

/** Result of a response. */
export interface RunEnd {
  readonly usage: TokenUsage
  /** Cost of all model calls, as exact decimal text; null when a price is unknown. */
  readonly costUsd: string | null
  /** Summary of the last model call. */
  readonly summary: ChatSummary
}

/** Maximum number of model calls of one response, with searches in between. */
const roundsMax = 16
/** Maximum number of times that a conversation which is too long is halved. */
const cutsMax = 8

interface Round {
  readonly number: number
  readonly searched: number
  readonly messages: readonly WireObject[]
}

/**
 * Calls the model until it has answered, running the searches that it requests in between. An answer that its provider
 * paused between uses of its own tools is continued. @throws {ServiceError}
 */
export const runResponse = async (parts: RunParts): Promise<RunEnd> => {
  const { plan, output } = parts
  let usage: TokenUsage | null = null
  let costUsd: string | null = '0'
  const approved = await parts.remote.begin(parts.signal)
  let round: Round = { number: 1, searched: 0, messages: [...plan.messages, ...approved] }
  for (;;) {
    const { summary, answer, isPaused, messages } = await callOnce(parts, round)
    usage = addUsage(usage, summary.usage)
    costUsd = addCosts(costUsd, summary.costUsd)
    output.finish(summary.finishReason !== 'length' && summary.finishReason !== 'content_filter')
    const searches = output.takeSearches()
    if (isPaused && searches.length === 0 && !output.hasCalls && round.number < roundsMax) {
      round = { ...round, number: round.number + 1, messages: [...messages, answer] }
      continue
    }
    if (searches.length === 0 || output.hasCalls || isSpent(plan, round)) return { usage, costUsd, summary }
    const results = await searchAll(parts, searches)
    // an approval is required: the response ends, and the next request brings the decision
    if (results === null) return { usage, costUsd, summary }
    const tool_calls = searches.map(({ callId, name, arguments: written }) => ({
      id: callId,
      type: 'function',
      function: { name, arguments: written },
    }))
    round = {
      number: round.number + 1,
      searched: round.searched + searches.length,
      messages: [
        ...messages,
        { ...answer, content: answer.content === '' ? null : answer.content, tool_calls },
        ...results,
      ],
    }
  }
}

/**
 * Makes one model call. With `truncation: auto`, a conversation that is too long for the model is shortened and sent
 * again.
 */
const callOnce = async (parts: RunParts, round: Round) => {
  const { plan, output, callModel } = parts
  let { messages } = round
  for (let cuts = 0; ; cuts++) {
    let [content, isPaused] = ['', false]
    const thinking_blocks: unknown[] = []
    try {
      const summary = await callModel(bodyOf(parts, round, messages), (choice) => {
        const delta = objectOf(choice.delta ?? choice.message)
        parts.remote.show(output)
        content += textOf(delta.content)
        for (const block of arrayOf(delta.thinking_blocks)) thinking_blocks.push(block)
        isPaused ||= choice.native_finish_reason === pausedTurn
        output.delta(delta)
      })
      const answer = { role: 'assistant', content, ...(thinking_blocks.length > 0 && { thinking_blocks }) }
      const hasMore = isPaused && (content !== '' || thinking_blocks.length > 0)
      return { summary, answer, isPaused: hasMore, messages }
    } catch (error) {
      const shorter = plan.request.truncation === 'auto' && isTooLong(error) ? withoutOldest(messages) : null
      if (shorter === null || cuts >= cutsMax) throw error
      messages = shorter
    }
  }
}

const isTooLong = (error: unknown): boolean => error instanceof ServiceError && error.code === 'context_length_exceeded'

/** Removes the older half of the messages after the system messages; null when nothing can be removed. */
const withoutOldest = (messages: readonly WireObject[]): readonly WireObject[] | null => {
  const first = messages.findIndex(({ role }) => role !== 'system')
  const rest = first < 0 ? [] : messages.slice(first)
  const from = rest.findIndex(({ role }, at) => at >= rest.length / 2 && role === 'user')
  return from <= 0 ? null : [...messages.slice(0, first), ...rest.slice(from)]
}

/** Whether the model has used up its searches and has to answer. */
const isSpent = ({ request }: ResponsePlan, { number, searched }: Round): boolean =>
  number >= roundsMax || searched >= (request.max_tool_calls ?? Number.POSITIVE_INFINITY)

const bodyOf = ({ plan, searches }: RunParts, round: Round, messages: readonly WireObject[]): ChatBody => {
  const shown = searches.filter(({ isShown = () => true }) => isShown())
  const tools = [...plan.tools.functions, ...shown.map(({ definition }) => definition)]
  const foreign = searches.some(({ name }) => name === searchToolName) ? null : plan.tools.search
  const { hosted } = plan.tools
  if (tools.length === 0 && foreign === null && hosted.length === 0) return { ...plan.base, messages }
  // a forced choice applies to the first model call only; otherwise the model would never answer
  const choice = searches.length > 0 && isSpent(plan, round) ? 'none' : round.number === 1 ? plan.toolChoice : undefined
  const parallel = plan.request.parallel_tool_calls ?? undefined
  return {
    ...plan.base,
    messages,
    ...(tools.length > 0 && { tools }),
    ...(hosted.length > 0 && { [hostedToolsField]: hosted }),
    ...(foreign !== null && {
      [searchToolField]: foreign.tool,
      ...given({ max_tool_calls: plan.request.max_tool_calls }),
    }),
    ...(choice !== undefined && { tool_choice: choice }),
    ...(parallel !== undefined && { parallel_tool_calls: parallel }),
  }
}

const searchAll = async (
  { searches, output, signal }: RunParts,
  calls: readonly SearchCall[],
): Promise<readonly WireObject[] | null> => {
  const messages: WireObject[] = []
  let waits = false
  for (const { callId, name, arguments: written } of calls) {
    const search = searches.find((each) => each.name === name)
    const content = await answerOf(search, written, { output, signal })
    if (content === null) waits = true
    else messages.push({ role: 'tool', tool_call_id: callId, content })
  }
  return waits ? null : messages
}

const answerOf = async (
  search: ServerSearch | undefined,
  written: string,
  within: ToolPlace,
): Promise<string | null> => {
  if (search?.call !== undefined) return search.call(written, within)
  const query = queryOf(written)
  return query === '' || search?.run === undefined ? 'The search requires a query.' : search.run(query, within)
}

/** The query of a call; '' when the model gave none. */
const queryOf = (text: string): string => textOf(objectOf(parseJson(text)).query).trim()
