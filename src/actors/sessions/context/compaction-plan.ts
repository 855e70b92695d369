import { estimateTokens } from '#gateway/call/accounting/token-estimate.ts'
import type { ModelMessage } from '#gateway/call/provider-port.ts'
import type { Cut } from '#machines/session/session-data.ts'

/** Tokens of a message in addition to its texts. */
const tokensAMessage = 4

/** Tokens of an image of usual size, as OpenAI counts it at high detail. */
const tokensAnImage = 1105

/** A conversation is cut to this share of its limit, so that the following turns do not have to cut it again. */
const share = 0.7

/** Token counts of the first messages of an array. */
interface Counted {
  readonly tokens: number[]
  total: number
  /** The last counted message. If the array has another message at that place, the counts do not apply to it. */
  last: ModelMessage | undefined
}

/**
 * Keyed by array and not by message: a conversation only grows, so a turn counts only its new messages. A table with an
 * entry per message would slow down each garbage collection.
 */
const counted = new WeakMap<readonly ModelMessage[], Counted>()

/**
 * Counts the tokens of an array's messages, with the estimate that budget holds use. `count` resumes where it stopped,
 * and stops after a number of characters.
 */
export class TokenCount {
  readonly #messages: readonly ModelMessage[]
  readonly #known: Counted

  constructor(messages: readonly ModelMessage[]) {
    this.#messages = messages
    const known = counted.get(messages)
    const isKnown = known !== undefined && messages[known.tokens.length - 1] === known.last
    this.#known = isKnown ? known : { tokens: [], total: 0, last: undefined }
    counted.set(messages, this.#known)
  }

  /** Tokens of all messages counted so far. */
  get total(): number {
    return this.#known.total
  }

  /** Continues to count, and stops after `max` characters. @returns whether all messages are counted. */
  count(max: number): boolean {
    const known = this.#known
    for (let characters = 0; known.tokens.length < this.#messages.length; ) {
      if (characters >= max) return false
      const message = this.#messages[known.tokens.length]
      if (message === undefined) return true
      const tokens = tokensOf(message)
      characters += message.content.length
      known.tokens.push(tokens)
      known.total += tokens
      known.last = message
    }
    return true
  }

  /** Tokens of the message at this place; 0 when it is not counted yet. */
  at(place: number): number {
    return this.#known.tokens[place] ?? 0
  }
}

export const tokensOf = (message: ModelMessage): number => {
  const calls = message.role === 'assistant' ? message.toolCalls : []
  const texts = [message.content, ...calls.flatMap(({ name, arguments: text }) => [name, text])]
  const images = message.role === 'user' ? (message.parts ?? []).filter(({ type }) => type === 'input_image').length : 0
  return estimateTokens(texts) + images * tokensAnImage + tokensAMessage
}

/** Tokens of a text that is not a message. */
export const tokensOfText = (text: string): number => estimateTokens([text])

/** Limits of a compacted conversation. */
export interface CompactionLimits {
  /** Most tokens of all messages together. */
  readonly max: number
  /** Most of the newest turns to keep, as far as they fit; null: as many as fit. */
  readonly keepTurns: number | null
}

/** The parts to remove from a conversation. */
export interface CompactionPlan {
  readonly cuts: readonly Cut[]
  /** Estimated tokens before and after. */
  readonly before: number
  readonly after: number
}

/**
 * Plans which messages to remove so that a conversation fits; null when it fits, or when nothing more can be removed.
 * The oldest turns are removed first. The newest turn always stays, but if it is too long its oldest answers are
 * removed together with the outputs of their calls, except for the newest answer: a call is never separated from its
 * output.
 */
export const compactionPlan = (
  messages: readonly ModelMessage[],
  { max, keepTurns }: CompactionLimits,
): CompactionPlan | null => {
  const tokens = new TokenCount(messages)
  tokens.count(Number.POSITIVE_INFINITY)
  const before = tokens.total
  if (before <= max) return null
  const tail = tailsOf(tokens, messages.length)
  const target = max * share
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

/** Returns a function that gives the tokens from a message to the end. */
const tailsOf = (tokens: TokenCount, length: number): ((at: number) => number) => {
  const tails = new Array<number>(length + 1).fill(0)
  for (let at = length - 1; at >= 0; at--) tails[at] = (tails[at + 1] ?? 0) + tokens.at(at)
  return (at) => tails[at] ?? 0
}

const startsOf = (messages: readonly ModelMessage[], role: ModelMessage['role']): readonly number[] =>
  messages.flatMap((message, at) => (message.role === role ? [at] : []))

/** Start of the earliest turn that may be kept. */
const keptFrom = (turns: readonly number[], keepTurns: number | null): number =>
  keepTurns === null ? 0 : (turns[Math.max(0, turns.length - keepTurns)] ?? 0)

/** The first start that fits, else the last one; 0 if there are none. */
const firstOf = (starts: readonly number[], fits: (at: number) => boolean): number =>
  starts.find(fits) ?? starts.at(-1) ?? 0

/** Returns the conversation without the cuts, in order, with `instead` at the place of the first cut. */
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

/** The messages that the cuts remove, in order. */
export const cutMessages = (messages: readonly ModelMessage[], cuts: readonly Cut[]): readonly ModelMessage[] =>
  cuts.flatMap(([from, to]) => messages.slice(from, to))
