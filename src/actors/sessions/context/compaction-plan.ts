import { estimateTokens } from '#gateway/call/accounting/token-estimate.ts'
import type { ModelMessage } from '#gateway/call/provider-port.ts'
import type { Cut } from '#machines/session/session-data.ts'

/** What a message takes beside its texts. */
const tokensAMessage = 4

/** A conversation that is cut is cut to this share of what it may have, so that not every turn cuts it again. */
const share = 0.7

/** Tokens of a list's first messages. */
interface Counted {
  readonly tokens: number[]
  total: number
  /** The last of those that are counted: a list that has another one there is not the list that was counted. */
  last: ModelMessage | undefined
}

/**
 * By list and not by message: a conversation only grows, so that a turn looks at its new messages and at no other. A table
 * with an entry a message would cost each collection of garbage its length.
 */
const counted = new WeakMap<readonly ModelMessage[], Counted>()

/**
 * The tokens of a list's messages, by the estimate that holds are made with, as far as they are counted; `count` goes on
 * where it ended before, and stops after some characters.
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

  /** Of all messages that are counted. */
  get total(): number {
    return this.#known.total
  }

  /** Counts on. @returns whether all are counted: after `most` characters it stops. */
  count(most: number): boolean {
    const known = this.#known
    for (let characters = 0; known.tokens.length < this.#messages.length; ) {
      if (characters >= most) return false
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

  /** Of one message. */
  at(place: number): number {
    return this.#known.tokens[place] ?? 0
  }
}

/** Tokens of a message. */
export const tokensOf = (message: ModelMessage): number => {
  const calls = message.role === 'assistant' ? message.toolCalls : []
  const texts = [message.content, ...calls.flatMap(({ name, arguments: text }) => [name, text])]
  return estimateTokens(texts) + tokensAMessage
}

/** Tokens of a text that is no message. */
export const tokensOfText = (text: string): number => estimateTokens([text])

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
  const tokens = new TokenCount(messages)
  tokens.count(Number.POSITIVE_INFINITY)
  const before = tokens.total
  if (before <= most) return null
  const tail = tailsOf(tokens, messages.length)
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
const tailsOf = (tokens: TokenCount, length: number): ((at: number) => number) => {
  const tails = new Array<number>(length + 1).fill(0)
  for (let at = length - 1; at >= 0; at--) tails[at] = (tails[at + 1] ?? 0) + tokens.at(at)
  return (at) => tails[at] ?? 0
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
