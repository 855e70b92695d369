import type { InputAnswer } from '#machines/action/action-data.ts'
import type { ResultOf } from '#specs/index.ts'
import type { JsonObject } from '#storage/index.ts'
import type { ConversationState } from './conversation.ts'
import type { HttpDeclaration } from './tools/tool-headers.ts'
import type { TurnConfig } from './turns/turn-config.ts'

type Messages = ResultOf<'sessions.messages'>
type Message = Messages['data'][number]
type PendingAction = Messages['pending_actions'][number]

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

/** A call that waits, read back from `turn.paused`. */
export const pendingAction = (event: unknown): PendingAction => event as PendingAction

/** A part of the input of a turn, read back from `turn.started`. */
export const inputPart = ({ type, ...part }: JsonObject): Message['parts'][number] =>
  ({ ...part, type: type === 'input_text' ? 'text' : 'image' }) as Message['parts'][number]

/** The usage of a turn, read back from its last event. */
export const messageUsage = (usage: unknown) => usage as NonNullable<Message['usage']>

/** The reason of a failure, read back from `turn.failed`. */
export const messageError = (error: unknown) => error as NonNullable<Message['error']>

/** A checkpoint, read back from its blob. */
export const conversationState = (json: string): ConversationState => JSON.parse(json) as ConversationState
