import { arrayOf, parseJson, type WireObject } from '#outgoing/wire.ts'
import type { ModelToolCall } from '../call/provider-port.ts'
import { carriedIn, idCarrying, plainCallId } from '../providers/tool-call-id.ts'

/*
 * What providers want back with a call is one text in a conversation (`ModelToolCall.opaque`), and stands in two places
 * of the form that everything is turned into: a signature is part of the call's id, and reasoning stands beside the text.
 * The first word of the text says which it is; stored conversations have it so, and it does not change.
 */
const signature = 'google:'
const reasoning = 'anthropic:'

/** The id under which a call goes out: with the signature that it carries. */
export const sentCallId = ({ callId, opaque }: ModelToolCall): string =>
  opaque?.startsWith(signature) ? idCarrying(callId, opaque.slice(signature.length)) : callId

/** Reasoning that led to an answer's calls, as `thinking_blocks`; null when there was none. */
export const sentThoughts = (calls: readonly ModelToolCall[]): readonly unknown[] | null => {
  const opaque = calls[0]?.opaque
  return opaque?.startsWith(reasoning) ? arrayOf(parseJson(opaque.slice(reasoning.length))) : null
}

/** A call that came under this id, the `place`th of its answer, after these `thinking_blocks`. */
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
