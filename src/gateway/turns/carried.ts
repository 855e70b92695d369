import { arrayOf, parseJson, type WireObject } from '#outgoing/wire.ts'
import type { ModelToolCall } from '../call/provider-port.ts'
import { carriedIn, idCarrying, plainCallId } from '../providers/tool-call-id.ts'

/*
 * Data that a provider requires back with a call is stored as one text in a conversation (`ModelToolCall.opaque`). In
 * the chat completion form it has two places: a signature is part of the call's id, and reasoning is a field of the
 * message. The prefix of the text says which one it is; stored conversations contain it, so it must not change.
 */
const signature = 'google:'
const reasoning = 'anthropic:'

/** Returns the id under which a call is sent, including the signature that it carries. */
export const sentCallId = ({ callId, opaque }: ModelToolCall): string =>
  opaque?.startsWith(signature) ? idCarrying(callId, opaque.slice(signature.length)) : callId

/** Returns the reasoning that led to an answer's calls, as `thinking_blocks`; null when there was none. */
export const sentThoughts = (calls: readonly ModelToolCall[]): readonly unknown[] | null => {
  const opaque = calls[0]?.opaque
  return opaque?.startsWith(reasoning) ? arrayOf(parseJson(opaque.slice(reasoning.length))) : null
}

/** Returns the call that was received under this id, as the `place`th of its answer, after these `thinking_blocks`. */
export const receivedCall = (
  id: string,
  place: number,
  thoughts: readonly WireObject[],
): Pick<ModelToolCall, 'callId' | 'opaque'> => {
  const carried = carriedIn(id)
  const callId = plainCallId(id)
  if (carried !== null) return { callId, opaque: signature + carried }
  return place === 0 && thoughts.length > 0 ? { callId, opaque: reasoning + JSON.stringify(thoughts) } : { callId }
}
