import type { ModelMessage } from '#gateway/call/provider-port.ts'

type UserMessage = Extract<ModelMessage, { role: 'user' }>
type MessageWithParts = UserMessage & Required<Pick<UserMessage, 'parts'>>

/** Number of the parts of an array's messages, and of their bytes. */
interface PartCount {
  readonly parts: number
  readonly bytes: number
}

/** Counts of the first messages of an array. */
interface Counted extends PartCount {
  count: number
  /** The last counted message. If the array has another message at that place, the counts do not apply to it. */
  last: ModelMessage | undefined
  parts: number
  bytes: number
}

/** Keyed by array: a conversation only grows, so a turn counts only its new messages. */
const counted = new WeakMap<readonly ModelMessage[], Counted>()

/** Counts the parts of the messages. An array that has grown is counted from where it ended before. */
export const partCount = (messages: readonly ModelMessage[]): PartCount => {
  const known = countedOf(messages)
  for (; known.count < messages.length; known.count++) {
    known.last = messages[known.count]
    if (known.last === undefined || !hasParts(known.last)) continue
    known.parts += known.last.parts.length
    for (const { bytes } of known.last.parts) known.bytes += Number(bytes ?? 0)
  }
  return known
}

const countedOf = (messages: readonly ModelMessage[]): Counted => {
  const known = counted.get(messages)
  if (known !== undefined && messages[known.count - 1] === known.last) return known
  const made: Counted = { count: 0, last: undefined, parts: 0, bytes: 0 }
  counted.set(messages, made)
  return made
}

/** Whether a message has more than text. */
export const hasParts = (message: ModelMessage): message is MessageWithParts =>
  message.role === 'user' && message.parts !== undefined
