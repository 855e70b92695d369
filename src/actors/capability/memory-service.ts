import type { JsonObject, MessageRecord } from '#storage/ports.ts'
import type { ServerTool } from './agent-resources.ts'
import { Port } from './port.ts'

/** Whose memory, and where in it. */
export interface MemoryAt {
  readonly project: string
  readonly tenant: string | null
  /** Your id of the end user. */
  readonly user: string
  /** `null` in a recall: memories of the user, and those of the session that is named. */
  readonly scope: 'user' | 'session' | null
  readonly session: string | null
  readonly namespace: string | null
}

/** What is to be recalled. */
export interface RecallRequest {
  readonly query: string
  /** Default 5. */
  readonly topK?: number | undefined
  /** Default 0.7; 0 for no cut. */
  readonly threshold?: number | undefined
  /** ms since the epoch. */
  readonly asOf?: number | undefined
  /** Default true. */
  readonly graph?: boolean | undefined
  /** `index`: ids with a line of summary each. */
  readonly mode?: 'inject' | 'index' | undefined
}

/** What was recalled. */
export interface Recall {
  readonly hits: readonly { readonly id: string; readonly score: number; readonly content: string }[]
  /** For the model, marked as recalled; empty when nothing is known. */
  readonly text: string
  /** USD. */
  readonly costUsd: number
}

/** What a reply leaves to be remembered. */
export interface Writeback {
  /** From which the receipt follows, e.g. the id of the turn's effect: the same again writes nothing twice. */
  readonly cause: string
  readonly user: string
  readonly assistant: string
  /** Memories that the request was given: their repetition says nothing new. */
  readonly recalled: readonly string[]
  /** ms since the epoch. */
  readonly at: number
  readonly source: 'chat' | 'session' | 'run' | 'response'
  readonly extract?: {
    readonly model?: string | undefined
    readonly prompt?: string | undefined
    readonly minImportance?: number | undefined
  }
}

/** A writeback as a message that goes into a commit, and the receipt that callers are given. */
export interface WritebackMessage extends Pick<MessageRecord, 'to' | 'event'> {
  /** UUID, for `memory.receipt`. */
  readonly requestId: string
  /** What starts the write, for those without a commit: `MemoryService.start`. */
  readonly input: JsonObject
}

/** Reads one memory of an index whole; turns and runs with `mode: "index"` have it. */
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

/** What memory does for conversations. */
export interface MemoryService {
  /**
   * Recalls what answers the query. It fails open: `failed` names why nothing was recalled.
   */
  recall(at: MemoryAt, request: RecallRequest): Promise<Recall & { readonly failed: string | null }>
  /** The message that remembers an exchange; pure, so that a commit may hold it. */
  writeback(at: MemoryAt, exchange: Writeback): WritebackMessage
  /** Starts a writeback that no commit holds. @throws {StoreUnavailable} */
  start(at: MemoryAt, message: WritebackMessage): Promise<void>
  /** Removes what was remembered of a session under its own scope, when it ends. @throws {StoreUnavailable} */
  endSession(at: Omit<MemoryAt, 'scope' | 'namespace' | 'session'>, session: string): Promise<void>
}

/** What memory does for conversations. */
export const memoryService = new Port<MemoryService>('the memory of users')
