import type { InputAnswer } from '#machines/action/action-data.ts'
import type { ConversationState } from './conversation.ts'
import type { HttpDeclaration } from './tools/tool-headers.ts'
import type { TurnConfig } from './turns/turn-config.ts'

/*
 * Casts for data that is read back from our own commits and blobs. Only the machines and this folder write that data,
 * and the version of a machine guards its shape.
 */

/** A turn's configuration, read back from a context or a blob. */
export const turnConfig = (config: unknown): TurnConfig => config as TurnConfig

/** The request of an action, read back from its context: the declaration of an http tool. */
export const actionExecution = (execution: unknown): HttpDeclaration => execution as HttpDeclaration

/** A person's answer to a request for input, read back from the context of an action. */
export const inputAnswer = (text: string): InputAnswer => JSON.parse(text) as InputAnswer

/** A checkpoint, read back from its blob. */
export const conversationState = (json: string): ConversationState => JSON.parse(json) as ConversationState
