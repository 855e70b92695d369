import { estimateTokens } from '#gateway/call/accounting/token-estimate.ts'
import type { ModelMessage } from '#gateway/call/provider-port.ts'
import type { Cut } from '#machines/session/session-data.ts'

/** What a message takes beside its texts. */
const tokensAMessage = 4

/** A conversation that is cut is cut to this share of what it may have, so that not every turn cuts it again. */
const share = 0.7

const counted = new WeakMap<ModelMessage, number>()

/** Tokens of a message, by the estimate that holds are made with. Counted once for a message. */
export const tokensOf = (message: ModelMessage): number => {
  const known = counted.get(message)
  if (known !== undefined) return known
  const calls = message.role === 'assistant' ? message.toolCalls : []
  const texts = [message.content, ...calls.flatMap(({ name, arguments: text }) => [name, text])]
  const tokens = estimateTokens(texts) + tokensAMessage
  counted.set(message, tokens)
  return tokens
}

/** Tokens of a text that is no message. */
export const tokensOfText = (text: string): number => estimateTokens([text])

/** Whether the tokens of a message are counted. */
export const isCounted = (message: ModelMessage): boolean => counted.has(message)

/** How much a conversation may have. */
export interface CompactionRoom {
  /** Tokens of all messages together. */
  readonly most: number
  /** The newest turns that stay where they fit; null: as many as fit. */
  readonly keepTurns: number | null
}

/** What is left out of a conversation. */
export interface CompactionPlan {
  readonly cuts: readonly Cut[]
  /** Tokens before and after, estimated. */
  readonly before: number
  readonly after: number
}

/**
 * What is to be left out so that a conversation fits; null when it fits, or when nothing more can go. The oldest turns go
 * first. Of the newest turn, which stays, the oldest answers go with the outputs of their calls, but for the newest: a
 * call and its output are never parted.
 */
export const compactionPlan = (
  messages: readonly ModelMessage[],
  { most, keepTurns }: CompactionRoom,
): CompactionPlan | null => {
  const tail = tailsOf(messages)
  const before = tail(0)
  if (before <= most) return null
  const target = most * share
  const turns = startsOf(messages, 'user')
  const oldest = firstOf(turns, (at) => at >= keptFrom(turns, keepTurns) && tail(at) <= target)
  const newest = turns.at(-1) ?? 0
  const cuts: Cut[] = oldest > 0 ? [[0, oldest]] : []
  if (oldest === newest && tail(newest) > target) {
    const answers = startsOf(messages, 'assistant').filter((at) => at > newest)
    const begin = answers[0] ?? 0
    const until = firstOf(answers, (at) => tail(newest) - tail(begin) + tail(at) <= target)
    if (until > begin) cuts.push([begin, until])
  }
  const removed = cuts.reduce((sum, [from, to]) => sum + tail(from) - tail(to), 0)
  return cuts.length === 0 ? null : { cuts, before, after: before - removed }
}

/** Tokens from a message on. */
const tailsOf = (messages: readonly ModelMessage[]): ((at: number) => number) => {
  const tails = [0]
  for (const message of messages.toReversed()) tails.push((tails.at(-1) ?? 0) + tokensOf(message))
  return (at) => tails[messages.length - at] ?? 0
}

const startsOf = (messages: readonly ModelMessage[], role: ModelMessage['role']): readonly number[] =>
  messages.flatMap((message, at) => (message.role === role ? [at] : []))

/** Where the turns begin that may stay: no more of them than are to be kept. */
const keptFrom = (turns: readonly number[], keepTurns: number | null): number =>
  keepTurns === null ? 0 : (turns[Math.max(0, turns.length - keepTurns)] ?? 0)

/** The first place that fits, else the last that there is. */
const firstOf = (starts: readonly number[], fits: (at: number) => boolean): number =>
  starts.find(fits) ?? starts.at(-1) ?? 0

/** A conversation without what was left out, in order; what stands in its place comes where the first cut was. */
export const withoutCuts = (
  messages: readonly ModelMessage[],
  cuts: readonly Cut[],
  instead: ModelMessage | null,
): readonly ModelMessage[] => {
  const isCut = (at: number): boolean => cuts.some(([from, to]) => at >= from && at < to)
  const [place = 0] = cuts[0] ?? []
  return messages.flatMap((message, at) => [
    ...(at === place && instead !== null ? [instead] : []),
    ...(isCut(at) ? [] : [message]),
  ])
}

/** The messages that a plan leaves out, in order. */
export const cutMessages = (messages: readonly ModelMessage[], cuts: readonly Cut[]): readonly ModelMessage[] =>
  cuts.flatMap(([from, to]) => messages.slice(from, to))
