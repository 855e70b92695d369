import type { ForkedFrom } from '#machines/session/session-data.ts'
import type { JsonObject } from '#storage/ports.ts'
import type { ConversationState } from './conversation.ts'
import type { HttpDeclaration } from './tools/tool-headers.ts'
import type { TurnConfig } from './turns/turn-config.ts'

/*
 * What our own commits and blobs hold comes back as the type that was written: they are written by the machines and
 * by this folder only, and a machine's version guards their shape.
 */

/** A turn's configuration, read back from a context or a blob. */
export const turnConfig = (config: unknown): TurnConfig => config as TurnConfig

/** The request of an action, as its context keeps it: the declaration of an http tool. */
export const actionExecution = (execution: unknown): HttpDeclaration => execution as HttpDeclaration

/** A checkpoint, read back from its blob. */
export const conversationState = (json: string): ConversationState => JSON.parse(json) as ConversationState

/** What the list row of a session holds (`sessionDefinition.row`). */
export interface SessionRow {
  readonly status: 'active' | 'paused' | 'completed'
  readonly turn_count: number
  readonly agent_id: string | null
  /** Absent without one. */
  readonly installation_id?: string
  readonly metadata: JsonObject
  /** Absent for one that was not forked. */
  readonly forked_from?: ForkedFrom
  readonly total_cost: string
}

/** A session's list row, read back. */
export const sessionRow = (data: JsonObject): SessionRow => data as unknown as SessionRow
