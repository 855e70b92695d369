import type { RequiredConnection, RequiredInput, TurnError, TurnUsage } from './events.ts'
import { asFields } from './schema.ts'

/** A piece of text of a message. */
export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

/** What the model reasoned before the text or the calls that follow; of agents that show it. */
export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
}

/** A tool call of a message. */
export interface ToolPart {
  readonly type: 'tool'
  readonly action_id: string
  readonly tool: string
  readonly arguments: unknown
  /** `pending`: waits for a decision. `awaiting_output`: the next turn brings the output. `cancelled`: the turn ended before. */
  readonly status: 'running' | 'pending' | 'awaiting_output' | 'completed' | 'rejected' | 'cancelled'
  readonly output?: string | undefined
  /** How a call that waited was resolved, of calls that this client saw waiting. */
  readonly resolution?: string
  /** What the tool's server reported last. */
  readonly progress?: { readonly progress: number; readonly total: number | null; readonly message: string | null }
}

/** A page that the text of a message cites. */
export interface CitationPart {
  readonly type: 'citation'
  readonly start_index: number
  readonly end_index: number
  readonly url: string
  readonly title: string
}

/** A text in the input of a turn. */
export interface InputText {
  readonly type: 'input_text'
  readonly text: string
}

/** An image in the input of a turn, which `imagePart` of `@troupe/client/images` makes. */
export interface InputImage {
  readonly type: 'input_image'
  /** A data URL, or an https address. */
  readonly image_url?: string
  /** Id of a file of `files.create`, in place of an address. */
  readonly file_id?: string
  readonly detail?: 'auto' | 'low' | 'high'
}

/** What a message is made of: a text, or texts and images. */
export type TurnInput = string | readonly (InputText | InputImage)[]

/** An image of a message of the user. */
export interface ImagePart extends Omit<InputImage, 'type'> {
  readonly type: 'image'
  /** For `session.image`. Images that are not sent yet, and those by address, have an `image_url` instead. */
  readonly image_id?: string
  readonly mime_type?: string
  readonly bytes?: number
}

/** What a message consists of, in the order in which it came. */
export type MessagePart = ImagePart | TextPart | ReasoningPart | ToolPart | CitationPart

/** A message of the conversation, as `sessions.messages` lists it. Its identity changes only when it does. */
export interface Message {
  /** Stays the same from the moment a message is sent. */
  readonly id: string
  readonly role: 'user' | 'assistant'
  /** Null for a message that the log does not have yet. */
  readonly turn_number: number | null
  readonly status: 'sending' | 'in_progress' | 'paused' | 'completed' | 'failed'
  readonly parts: readonly MessagePart[]
  readonly usage?: TurnUsage
  readonly error?: TurnError
}

/** A tool call that waits: for a person, for a connection or an input, or for the page that runs it. */
export interface PendingAction {
  readonly action_id: string
  readonly turn_number: number
  readonly tool: string
  readonly arguments: unknown
  readonly reason: 'approval_required' | 'connection_required' | 'input_required'
  /** `caller`: a `function` tool, which the page runs. */
  readonly run_by?: 'caller'
  /** `page`: this turn's page declared the tool, so that a client token with `sessions:tools` may run it. */
  readonly declared_by?: 'page'
  /** `end_user`: a client token with `sessions:approve` may decide; otherwise only the operator may. */
  readonly approver?: 'end_user'
  readonly connection?: RequiredConnection
  readonly input?: RequiredInput
  /** Whether a decision of this client is on its way. */
  readonly deciding?: boolean
}

/** The messages that a stream begins with. */
export interface SnapshotEvent {
  readonly event: 'session.snapshot'
  readonly data: { readonly data: readonly Message[]; readonly pending_actions: readonly PendingAction[] }
}

/** What the session is doing. */
export interface Run {
  readonly status: 'idle' | 'sending' | 'in_progress' | 'paused'
  readonly turn: number | null
}

/** How a turn ended. */
export interface Turn {
  readonly turn: number
  readonly status: 'completed' | 'failed'
  readonly text: string
  readonly usage: TurnUsage | null
  readonly error: TurnError | null
}

/** All text of a message, without what the model reasoned. */
export const textOf = ({ parts }: Pick<Message, 'parts'>): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** Length of what the types of parts have before those of messages. */
const prefix = 'input_'.length

/** The parts of a message of these contents. */
export const partsOf = (input: TurnInput): readonly MessagePart[] =>
  typeof input === 'string'
    ? input
      ? [{ type: 'text', text: input }]
      : []
    : input.map((part) => asFields({ ...part, type: part.type.slice(prefix) }))
