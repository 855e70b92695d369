import type { Tool } from '@modelcontextprotocol/server'
import type { JsonObject } from '#specs/dsl/json.ts'
import type { ShownTool } from './tool-request.ts'

/*
 * What passes between our declarations and the SDK is JSON on both sides; its types for JSON are others than ours.
 */

/** A tool as the SDK lists it. */
export const listedTool = (tool: ShownTool): Tool => tool as unknown as Tool

/** Arguments of a call, which came as JSON. */
export const givenArguments = (given: Readonly<Record<string, unknown>> | undefined): JsonObject =>
  (given ?? {}) as JsonObject
