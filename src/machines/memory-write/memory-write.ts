import { setup } from 'xstate'
import type { JsonObject } from '#specs/dsl/json.ts'
import type { Status } from '#specs/statuses.ts'
import { type Notice, vocabulary } from '../declared.ts'
import { type At, assignsOf, type Shown } from '../index.ts'

/** Delays before the second attempt, the third and the fourth, in ms. */
export const memoryRetryDelaysMs: readonly number[] = [2_000, 15_000, 120_000]

/** How long a receipt can be read after it is settled, in ms. */
export const receiptRetentionMs = 24 * 60 * 60 * 1000

/** A memory that the write stored, or found to exist already. */
export type WrittenMemoryRef = { readonly id: string; readonly duplicate: boolean }

/** A write's durable context. */
export type MemoryWriteContext = {
  readonly write_id: string
  /** The exchange to remember and where; null once the write has ended, so that the receipt keeps none of it. */
  readonly exchange: JsonObject | null
  /** The extracted facts; null before extraction and once the write has ended. */
  readonly facts: readonly JsonObject[] | null
  readonly source: string
  readonly attempts: number
  /** Number of facts found; null before extraction. */
  readonly extracted: number | null
  readonly memories: readonly WrittenMemoryRef[]
  readonly extractor: string | null
  readonly model: string | null
  readonly provider: string | null
  /** USD as a number, as the API returns it. */
  readonly cost_usd: number
  readonly error: { readonly code: string; readonly message: string } | null
  readonly delay_ms: number
}

/** Input of a new write. */
export type MemoryWriteInput = {
  readonly write_id: string
  readonly exchange: JsonObject
  readonly source: string
}

/** All events of a write. */
export type MemoryWriteEvent =
  | {
      readonly type: 'facts_extracted'
      readonly facts: readonly JsonObject[]
      readonly extractor: string
      readonly model: string | null
      readonly provider: string | null
      readonly cost_usd: number
      /** The memories stored in the same step; null or absent when the facts are yet to be stored. */
      readonly memories?: readonly WrittenMemoryRef[] | null
    }
  | { readonly type: 'memories_stored'; readonly memories: readonly WrittenMemoryRef[] }
  /** `final`: a further attempt cannot succeed. */
  | {
      readonly type: 'write_failed'
      readonly code: string
      readonly message: string
      readonly final: boolean
    }
  | { readonly type: 'delete' }

type Failed = At<MemoryWriteContext, Extract<MemoryWriteEvent, { type: 'write_failed' }>>
type Extracted = At<MemoryWriteContext, Extract<MemoryWriteEvent, { type: 'facts_extracted' }>>
type Stored = At<MemoryWriteContext, Extract<MemoryWriteEvent, { type: 'memories_stored' }>>

const assigns = assignsOf<MemoryWriteContext, MemoryWriteEvent>()

const nothingKept = { exchange: null, facts: null } as const

const failedFinally = [
  assigns(({ event: { code, message } }: Failed) => ({ ...nothingKept, error: { code, message } })),
  {
    type: 'notify',
    params: ({ context }: { context: MemoryWriteContext }): Notice => ({
      event_type: 'memory.write.failed',
      data: { write_id: context.write_id, source: context.source, error: context.error },
    }),
  },
] as const

const extractedOf = ({ facts, extractor, model, provider, cost_usd }: Extracted['event']) => ({
  extracted: facts.filter(({ ended }) => ended !== true).length,
  ...{ extractor, model, provider, cost_usd },
})

const succeeded = {
  type: 'notify',
  params: ({ context }: { context: MemoryWriteContext }): Notice => ({
    event_type: 'memory.write.succeeded',
    data: {
      write_id: context.write_id,
      source: context.source,
      extracted: context.extracted ?? 0,
      written: context.memories.filter(({ duplicate }) => !duplicate).length,
    },
  }),
} as const

const again = assigns(({ context }: Failed) => ({
  attempts: context.attempts + 1,
  delay_ms: memoryRetryDelaysMs[context.attempts] ?? 0,
}))

/**
 * Extracts facts from an exchange and stores them; then it serves as the receipt for a day. Facts that a model
 * extracted are committed before they are stored, because they were paid for; other facts are stored in the step that
 * extracts them. A failure of the model or the store is retried three times (specs/decisions/0133-memory.md). The
 * exchange is dropped when the write ends.
 */
export const memoryWriteMachine = setup({
  types: {
    context: {} as MemoryWriteContext,
    input: {} as MemoryWriteInput,
    events: {} as MemoryWriteEvent,
    meta: {} as Shown<MemoryWriteContext, Status<'memory_write'>>,
  },
  actions: {
    ...vocabulary,
    extractFacts: (_: unknown, _params: { attempt: number }) => {},
    storeMemories: (_: unknown, _params: { attempt: number }) => {},
    eraseMemoryWrite: (_: unknown, _params: Record<never, never>) => {},
  },
  guards: {
    isFinal: ({ context, event }) =>
      event.type === 'write_failed' && (event.final || context.attempts >= memoryRetryDelaysMs.length),
    isExtracted: ({ context }) => context.facts !== null,
    isStored: ({ event }) => event.type === 'facts_extracted' && (event.memories ?? null) !== null,
  },
  delays: { backoff: ({ context }) => context.delay_ms, retention: receiptRetentionMs },
}).createMachine({
  id: 'memory_write',
  context: ({ input }) => ({
    ...input,
    facts: null,
    attempts: 0,
    extracted: null,
    memories: [],
    extractor: null,
    model: null,
    provider: null,
    cost_usd: 0,
    error: null,
    delay_ms: 0,
  }),
  initial: 'extracting',
  on: { delete: '.erasing' },
  states: {
    extracting: {
      meta: { status: 'pending' },
      tags: 'busy',
      entry: { type: 'extractFacts', params: ({ context }) => ({ attempt: context.attempts + 1 }) },
      exit: { type: 'abort', params: { effects: ['extractFacts'] } },
      on: {
        facts_extracted: [
          {
            guard: 'isStored',
            target: 'success',
            actions: [
              assigns(({ event }: Extracted) => ({
                ...nothingKept,
                ...extractedOf(event),
                memories: event.memories ?? [],
              })),
              succeeded,
            ],
          },
          {
            target: 'storing',
            actions: assigns(({ event }: Extracted) => ({ ...extractedOf(event), facts: event.facts })),
          },
        ],
        write_failed: [
          { guard: 'isFinal', target: 'error', actions: failedFinally },
          { target: 'waiting', actions: again },
        ],
      },
    },
    storing: {
      meta: { status: 'pending' },
      tags: 'busy',
      entry: { type: 'storeMemories', params: ({ context }) => ({ attempt: context.attempts + 1 }) },
      exit: { type: 'abort', params: { effects: ['storeMemories'] } },
      on: {
        memories_stored: {
          target: 'success',
          actions: [assigns(({ event }: Stored) => ({ ...nothingKept, memories: event.memories })), succeeded],
        },
        write_failed: [
          { guard: 'isFinal', target: 'error', actions: failedFinally },
          { target: 'waiting', actions: again },
        ],
      },
    },
    waiting: {
      meta: { status: 'pending' },
      after: { backoff: [{ guard: 'isExtracted', target: 'storing' }, { target: 'extracting' }] },
    },
    success: { meta: { status: 'success' }, after: { retention: 'erasing' } },
    error: { meta: { status: 'error' }, after: { retention: 'erasing' } },
    erasing: { type: 'final', entry: { type: 'eraseMemoryWrite', params: {} } },
  },
})
