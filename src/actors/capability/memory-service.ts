import type { JsonObject, MessageRecord } from '#storage/index.ts'
import type { ServerTool } from './agent-resources.ts'
import { Port } from './port.ts'

/** Whose memory, and which part of it. */
export interface MemoryAt {
  readonly project: string
  readonly tenant: string | null
  /** The caller's id of the end user. */
  readonly user: string
  /** `null` in a recall: memories of the user, and those of the given session. */
  readonly scope: 'user' | 'session' | null
  readonly session: string | null
  readonly namespace: string | null
}

/** Query of a recall. */
export interface RecallRequest {
  readonly query: string
  /** Default 5. */
  readonly topK?: number | undefined
  /** Minimum score; default 0.7, 0 for no minimum. */
  readonly threshold?: number | undefined
  /** ms since the epoch. */
  readonly asOf?: number | undefined
  /** Default true. */
  readonly graph?: boolean | undefined
  /** `index`: ids with a line of summary each. */
  readonly mode?: 'inject' | 'index' | undefined
}

/** Result of a recall. */
export interface Recall {
  readonly hits: readonly { readonly id: string; readonly score: number; readonly content: string }[]
  /** Text for the model, marked as recalled; empty when nothing was found. */
  readonly text: string
  /** USD. */
  readonly costUsd: number
}

/** An exchange to be remembered. */
export interface Writeback {
  /** Idempotency key, e.g. the id of the turn's effect: it determines the receipt, and a repetition writes nothing. */
  readonly cause: string
  readonly user: string
  readonly assistant: string
  /** Memories that were given to the request: repeating them adds no information. */
  readonly recalled: readonly string[]
  /** ms since the epoch. */
  readonly at: number
  readonly source: 'chat' | 'session' | 'run' | 'response'
  readonly extract?: {
    readonly model?: string | undefined
    /** The only models that may extract facts; undefined: any. Without one of them rules do. */
    readonly models?: readonly string[] | undefined
    /** Guardrails of the call, in addition to those of the project; absent: none. */
    readonly guardrails?: readonly string[] | undefined
    readonly prompt?: string | undefined
    readonly minImportance?: number | undefined
  }
}

/** A writeback as a message for a commit, and the receipt that callers get. */
export interface WritebackMessage extends Pick<MessageRecord, 'to' | 'event'> {
  /** UUID, for `memory.receipt`. */
  readonly requestId: string
  /** Input of the write, for callers without a commit (`MemoryService.start`). */
  readonly input: JsonObject
}

/** Tool that reads the full text of one memory of an index; available in turns and runs with `mode: "index"`. */
export const memoryFetch: ServerTool = {
  type: 'server',
  name: 'memory_fetch',
  description: 'Reads one memory of the user whole, by an id of the index.',
  parameters: {
    type: 'object',
    properties: { id: { type: 'string', description: 'Id of the memory, such as mem_…' } },
    required: ['id'],
    additionalProperties: false,
  },
  resource: 'memory',
  settings: {},
  effect: 'idempotent',
}

/** Memory of users, as conversations use it. */
export interface MemoryService {
  /** Recalls memories that match the query. It fails open: `failed` is the reason why nothing was recalled. */
  recall(at: MemoryAt, request: RecallRequest): Promise<Recall & { readonly failed: string | null }>
  /** Builds the message that stores an exchange; pure, so that a commit may include it. */
  writeback(at: MemoryAt, exchange: Writeback): WritebackMessage
  /** Starts a writeback that is not part of a commit. @throws {StoreUnavailable} */
  start(at: MemoryAt, message: WritebackMessage): Promise<void>
  /** Removes the memories with the scope of a session when the session ends. @throws {StoreUnavailable} */
  endSession(at: Omit<MemoryAt, 'scope' | 'namespace' | 'session'>, session: string): Promise<void>
}

/** Memory of users, as conversations use it. */
export const memoryService = new Port<MemoryService>('the memory of users')
