import type { InputAnswer } from '#machines/action/action-data.ts'
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

/** A person's answer to a request for input, as the context of an action keeps it. */
export const inputAnswer = (text: string): InputAnswer => JSON.parse(text) as InputAnswer

/** A checkpoint, read back from its blob. */
export const conversationState = (json: string): ConversationState => JSON.parse(json) as ConversationState
