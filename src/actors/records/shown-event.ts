import type { Json, JsonObject, LogEvent } from '#storage/index.ts'
import type { EventReader } from '../call/speaker.ts'
import { isObject } from '../runtime/index.ts'
import { sanitized, sanitizedText } from './sanitize.ts'

/**
 * Outputs longer than this are masked as plain text: they are rare, and traversing their JSON blocks the event loop.
 */
const maxParsed = 64 * 1024

/** How the fields of a payload are masked, by the name of the event. All other events are shown as they are. */
const masks: Readonly<Record<string, (payload: JsonObject) => JsonObject>> = {
  'turn.started': (payload) => withResults(payload),
  'tool_call.started': (payload) => withArguments(payload),
  'tool_call.progress': (payload) => withMessage(payload),
  'tool_call.completed': (payload) => withOutput(payload),
  'turn.paused': (payload) => withArguments(payload),
  'turn.resumed': (payload) => withOutput(withArguments(payload)),
  'context.compacted': (payload) => withSummary(payload),
  'run.context.compacted': (payload) => withSummary(payload),
  'run.tool_call.started': (payload) => withArguments(payload),
  'run.action.approved': (payload) => withArguments(payload),
  'run.tool_call.progress': (payload) => withMessage(payload),
  'run.tool_call.completed': (payload) => withOutput(payload),
  'run.requires_action': (payload) => withArguments(payload),
}

/** Events that give a caller the arguments with which it has to run its own tool. */
const isForRunner = (
  { event_type, payload }: Pick<LogEvent, 'event_type' | 'payload'>,
  reader: EventReader,
): boolean => {
  if (reader === 'page') return payload.declared_by === 'page'
  if (reader !== 'caller') return false
  return event_type === 'run.requires_action' ? payload.reason === 'tool_output_required' : payload.run_by === 'caller'
}

const shown = new WeakMap<JsonObject, JsonObject>()

/**
 * Returns an event's payload as its reader may see it: arguments and outputs of tool calls are sanitized, in every
 * stream, list and page (specs/decisions/0113-patterns-and-masks.md). Arguments for a caller's own tool are left
 * complete for the caller that runs it, and in `turn.completed` for everyone. Models read the log itself.
 */
export const shownPayload = (event: Pick<LogEvent, 'event_type' | 'payload'>, reader: EventReader): JsonObject => {
  const { event_type, payload } = event
  const mask = masks[event_type]
  if (mask === undefined) return payload
  if (isForRunner(event, reader)) return payload
  const known = shown.get(payload)
  if (known !== undefined) return known
  const made = mask(payload)
  // most payloads have nothing to mask, and checking again costs less than remembering
  if (made !== payload) shown.set(payload, made)
  return made
}

/** Returns a tool's output as people may see it; in JSON, values are also masked by the names of their keys. */
export const sanitizedOutput = (output: string): string => {
  const value = output.length > maxParsed ? undefined : parsed(output)
  if (typeof value !== 'object' || value === null) return sanitizedText(output)
  const before = JSON.stringify(value)
  const after = JSON.stringify(sanitized(value))
  return before === after ? output : after
}

/** Returns an action's stored data as people may see it, with the same masks as its view and its events. */
export const maskedAction = (data: JsonObject): JsonObject => {
  const texts = (['arguments', 'proposed_arguments', 'answer', 'output'] as const).flatMap((field) => {
    const text = data[field]
    return typeof text === 'string' ? [[field, sanitizedOutput(text)] as const] : []
  })
  return { ...data, ...Object.fromEntries(texts) }
}

const withArguments = (payload: JsonObject): JsonObject =>
  payload.arguments === undefined ? payload : { ...payload, arguments: sanitized(payload.arguments) }

const withOutput = (payload: JsonObject): JsonObject =>
  typeof payload.output === 'string' ? { ...payload, output: sanitizedOutput(payload.output) } : payload

const withSummary = (payload: JsonObject): JsonObject =>
  typeof payload.summary === 'string' ? { ...payload, summary: sanitizedText(payload.summary) } : payload

const withMessage = (payload: JsonObject): JsonObject =>
  typeof payload.message === 'string' ? { ...payload, message: sanitizedText(payload.message) } : payload

/** Masks the outputs that the caller sent with its turn. */
const withResults = (payload: JsonObject): JsonObject =>
  Array.isArray(payload.tool_results) ? { ...payload, tool_results: payload.tool_results.map(shownResult) } : payload

const shownResult = (result: Json): Json => (isObject(result) ? withOutput(result) : result)

const parsed = (text: string): Json | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
