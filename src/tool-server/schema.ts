import type { Tool } from '@modelcontextprotocol/server'
import type { JsonObject } from '#specs/dsl/json.ts'
import type { ShownTool } from './tool-request.ts'

/* Conversions to and from the SDK: values are JSON on both sides, but its JSON types differ from ours. */

/** A tool as the SDK lists it. */
export const listedTool = (tool: ShownTool): Tool => tool as unknown as Tool

/** Arguments of a call, received as JSON. */
export const givenArguments = (given: Readonly<Record<string, unknown>> | undefined): JsonObject =>
  (given ?? {}) as JsonObject

/** Parses a JSON object; null for anything else. */
export const jsonObjectOf = (text: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
  } catch {
    return null
  }
}
