import { arrayOf, isObject, objectOf, type WireObject } from '#outgoing/wire.ts'

/**
 * Converts a `chat.completion` to the chunks of a stream: the content of each choice, the finish reasons, and the
 * usage.
 */
export const chunksOf = ({ choices, usage, ...about }: WireObject, withUsage: boolean): readonly WireObject[] => {
  const head = { ...about, object: 'chat.completion.chunk' }
  const inParts = arrayOf(choices).map((choice, place) => partsOf(objectOf(choice), place))
  return [
    ...inParts.map(({ whole }) => ({ ...head, choices: [whole] })),
    ...inParts.map(({ over }) => ({ ...head, choices: [over] })),
    ...(withUsage && isObject(usage) ? [{ ...head, choices: [], usage }] : []),
  ]
}

/** Clients consider a stream without a finish reason broken, so a missing one is filled in. */
const partsOf = ({ index, message, finish_reason, ...about }: WireObject, place: number) => {
  const { tool_calls, ...words } = objectOf(message)
  const calls = arrayOf(tool_calls).map((call, at) => ({ index: at, ...objectOf(call) }))
  const at = typeof index === 'number' ? index : place
  const delta = { role: 'assistant', ...words, ...(calls.length > 0 && { tool_calls: calls }) }
  const reason = finish_reason ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  return {
    whole: { ...about, index: at, delta, finish_reason: null },
    over: { index: at, delta: {}, finish_reason: reason },
  }
}
