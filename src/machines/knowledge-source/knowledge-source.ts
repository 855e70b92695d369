import { assign, setup } from 'xstate'
import type { JsonObject } from '#specs/dsl/json.ts'
import type { Status } from '#specs/statuses.ts'
import { type Notice, vocabulary } from '../declared.ts'
import { type At, type AuditLine, assignsOf, type Shown } from '../index.ts'

/** Content from a request, in blobs of the source, each of which is a part as text or base64. */
export type Upload = {
  /** SHA-256 of the content's bytes. */
  readonly checksum: string
  readonly size_bytes: number
  readonly encoding: 'text' | 'base64'
  readonly mime_type: string
  readonly filename: string | null
  /** Names of the blobs, in order. */
  readonly parts: readonly string[]
}

/** The document read from a source: names of the blobs of its text and of its chunks. */
export type ReadDocument = {
  readonly text: readonly string[]
  readonly chunks: readonly string[]
  readonly characters: number
  readonly chunk_count: number
  readonly page_count: number | null
  /** Title found in the content; null for none. */
  readonly title: string | null
}

/** Vectors of chunks: names of blobs, each with the vectors of some chunks. */
export type Vectors = {
  readonly embedder: string
  readonly parts: readonly string[]
  readonly count: number
  /** Whether the leads of pages have vectors, too; absent for documents without pages, and in older rows. */
  readonly leads?: true
}

/** Number of chunks that a sync added, removed and left unchanged. */
export type ChunkChanges = { readonly added: number; readonly removed: number; readonly unchanged: number }

/** Why a sync failed. */
type SyncError = { readonly code: string; readonly message: string }

/** A source's durable context. */
export type SourceContext = {
  readonly source_id: string
  readonly knowledge_base_id: string
  /** The caller who added it; null where that is unknown. */
  readonly created_by: AuditLine['by'] | null
  /** The uploaded file that it is a copy of (`vector_store_files.create`); absent for any other source. */
  readonly file_id?: string
  readonly type: 'text' | 'file' | 'url'
  /** Title given by the caller; null: the content's title is used. */
  readonly title: string | null
  readonly url: string | null
  readonly refresh_interval_s: number | null
  readonly metadata: JsonObject
  /** Newest content from a request; null for a URL. */
  readonly upload: Upload | null
  readonly filename: string | null
  readonly mime_type: string | null
  /** SHA-256 of the content that was last read. */
  readonly checksum: string | null
  readonly size_bytes: number | null
  readonly document: ReadDocument | null
  readonly changes: ChunkChanges | null
  readonly vectors: Vectors | null
  readonly error: SyncError | null
  /** ms since the epoch. */
  readonly synced_at_ms: number | null
  /** Consecutive failed attempts. */
  readonly attempts: number
  /** Wait before the next attempt, in ms. */
  readonly delay_ms: number
}

/** Input of a new source. */
export type SourceInput = Pick<
  SourceContext,
  | 'source_id'
  | 'knowledge_base_id'
  | 'created_by'
  | 'file_id'
  | 'type'
  | 'title'
  | 'url'
  | 'refresh_interval_s'
  | 'metadata'
  | 'upload'
  | 'filename'
  | 'mime_type'
>

/** The caller of a command; absent for the server itself. */
type By = { readonly by?: AuditLine['by'] }

/** All events of a source. */
export type SourceEvent =
  | ({ readonly type: 'sync'; readonly upload: Upload | null } & By)
  | ({
      readonly type: 'update'
      readonly title?: string
      readonly url?: string
      readonly refresh_interval_s?: number | null
      readonly metadata?: JsonObject
    } & By)
  | {
      readonly type: 'synced'
      readonly checksum: string
      readonly size_bytes: number
      readonly mime_type: string
      readonly document: ReadDocument
      readonly changes: ChunkChanges
      readonly at: number
    }
  | { readonly type: 'unchanged'; readonly at: number }
  /** `final`: a further attempt cannot succeed. `jitter` is in [0, 1). */
  | { readonly type: 'sync_failed'; readonly error: SyncError; readonly final: boolean; readonly jitter: number }
  | { readonly type: 'embedded'; readonly vectors: Vectors | null }
  | { readonly type: 'embed_failed'; readonly jitter: number }
  | { readonly type: 'embed' }
  | ({ readonly type: 'delete' } & By)

/** Delays before the second attempt of a sync or embedding, the third and so on, in ms. */
export const syncDelaysMs: readonly number[] = [2_000, 15_000, 60_000, 5 * 60_000]

const jitterPart = 0.2

const delayAfter = (attempts: number, jitter: number): number => {
  const delay = syncDelaysMs[attempts - 1] ?? 0
  return delay + Math.round(delay * jitterPart * jitter)
}

type On<Type extends SourceEvent['type']> = At<SourceContext, Extract<SourceEvent, { readonly type: Type }>>

const assigns = assignsOf<SourceContext, SourceEvent>()

const takeUpload = assigns(({ context, event: { upload } }: On<'sync'>) => ({
  attempts: 0,
  upload: upload ?? context.upload,
  filename: upload?.filename ?? context.filename,
}))

const takeFields = assigns(({ context, event: { type: _update, by: _by, ...fields } }: On<'update'>) => ({
  ...context,
  ...fields,
}))

const lineOf = (done: string, by: AuditLine['by'] | null | undefined, changes?: readonly string[]) => ({
  lines:
    by === null || by === undefined
      ? []
      : [{ action: `knowledge_source.${done}`, by, resource: 'knowledge_source', ...(changes && { changes }) }],
})

const auditCreation = {
  type: 'audit',
  params: ({ context }: { context: SourceContext }) => lineOf('created', context.created_by),
} as const

const auditSync = { type: 'audit', params: ({ event: { by } }: On<'sync'>) => lineOf('synced', by) } as const

const auditChange = {
  type: 'audit',
  params: ({ event: { type: _update, by, ...fields } }: On<'update'>) => lineOf('updated', by, Object.keys(fields)),
} as const

const auditDeletion = { type: 'audit', params: ({ event: { by } }: On<'delete'>) => lineOf('deleted', by) } as const

const change = [takeFields, auditChange] as const

const keepDocument = assigns(({ event }: On<'synced'>) => {
  const { checksum, size_bytes, mime_type, document, changes, at } = event
  return { checksum, size_bytes, mime_type, document, changes, synced_at_ms: at, error: null, attempts: 0 }
})

const keepTime = assigns(({ context: { document }, event: { at } }: On<'unchanged'>) => ({
  changes: { added: 0, removed: 0, unchanged: document?.chunk_count ?? 0 },
  synced_at_ms: at,
  error: null,
  attempts: 0,
}))

const keepError = assigns(({ context, event: { error, jitter } }: On<'sync_failed'>) => ({
  error,
  attempts: context.attempts + 1,
  delay_ms: delayAfter(context.attempts + 1, jitter),
}))

const journalSync = {
  type: 'journal',
  params: ({ event: { checksum, changes } }: On<'synced'>) => ({
    events: [{ event_type: 'source.synced', payload: { checksum, ...changes } }],
  }),
} as const

const journalSame = {
  type: 'journal',
  params: () => ({ events: [{ event_type: 'source.unchanged', payload: {} }] }),
} as const

const journalFailure = {
  type: 'journal',
  params: ({ event: { error } }: On<'sync_failed'>) => ({
    events: [{ event_type: 'source.sync_failed', payload: error }],
  }),
} as const

const notifySync = {
  type: 'notify',
  params: ({ context, event: { checksum, changes } }: On<'synced'>): Notice => ({
    event_type: 'knowledge_source.synced',
    data: { ...namesOf(context), checksum, ...changes },
  }),
} as const

/** Notifies webhooks of a final failure; failures that are retried are only logged. */
const notifyFailure = {
  type: 'notify',
  params: ({ context, event: { error } }: On<'sync_failed'>): Notice => ({
    event_type: 'knowledge_source.failed',
    data: { ...namesOf(context), error },
  }),
} as const

const namesOf = ({ source_id, knowledge_base_id, type }: SourceContext) => ({ source_id, knowledge_base_id, type })

/** Aborts work in progress that a newer request makes obsolete. */
const stopWork = { type: 'abort', params: { effects: ['syncSource', 'embedSource'] } } as const

const syncAgain = { target: '#knowledge_source.syncing', reenter: true } as const

/** Handles a change while the source is idle: a new interval starts now, a new URL is read at once. */
const changeAtRest = [
  { ...syncAgain, guard: 'movesUrl', actions: change },
  { target: 'deciding', actions: change },
] as const

/** States between two syncs: the document gets its vectors, and is read again after the interval. */
const atRest = {
  embedding: {
    entry: {
      type: 'embedSource',
      params: ({ context }: { readonly context: SourceContext }) => ({ attempt: context.attempts + 1 }),
    },
    on: {
      embedded: {
        target: 'deciding',
        actions: assigns(({ event: { vectors } }: On<'embedded'>) => ({ vectors, attempts: 0 })),
      },
      embed_failed: [
        { guard: 'isLast', target: 'deciding', actions: assigns(() => ({ attempts: 0 })) },
        {
          target: 'postponed',
          actions: assigns(({ context, event: { jitter } }: On<'embed_failed'>) => ({
            attempts: context.attempts + 1,
            delay_ms: delayAfter(context.attempts + 1, jitter),
          })),
        },
      ],
    },
  },
  postponed: { after: { backoff: 'embedding' } },
  deciding: { always: [{ guard: 'hasInterval', target: 'scheduled' }, { target: 'resting' }] },
  resting: { on: { embed: 'embedding', update: changeAtRest } },
  scheduled: {
    after: { interval: '#knowledge_source.syncing' },
    on: { embed: 'embedding', update: changeAtRest },
  },
} as const

/**
 * One document of a knowledge base. It is read and split into chunks (`syncing`), can be found by keywords from then
 * on, and gets vectors (`ready.embedding`). A URL with an interval is read again after each interval. The document read
 * last can be found until a sync replaces it, even while syncs fail.
 */
export const sourceMachine = setup({
  types: {
    context: {} as SourceContext,
    input: {} as SourceInput,
    events: {} as SourceEvent,
    meta: {} as Shown<SourceContext, Status<'knowledge_source'>>,
  },
  actions: {
    ...vocabulary,
    syncSource: (_: unknown, _params: { attempt: number }) => {},
    embedSource: (_: unknown, _params: { attempt: number }) => {},
    eraseSource: (_: unknown, _params: Record<never, never>) => {},
  },
  guards: {
    isLast: ({ context, event }) =>
      (event.type === 'sync_failed' && event.final) || context.attempts >= syncDelaysMs.length,
    hasInterval: ({ context }) => context.type === 'url' && context.refresh_interval_s !== null,
    movesUrl: ({ context, event }) => event.type === 'update' && event.url !== undefined && event.url !== context.url,
  },
  delays: {
    backoff: ({ context }) => context.delay_ms,
    interval: ({ context }) => (context.refresh_interval_s ?? 0) * 1000,
  },
}).createMachine({
  id: 'knowledge_source',
  context: ({ input }) => ({
    ...input,
    checksum: null,
    size_bytes: null,
    document: null,
    changes: null,
    vectors: null,
    error: null,
    synced_at_ms: null,
    attempts: 0,
    delay_ms: 0,
  }),
  initial: 'created',
  on: {
    delete: { target: '.erasing', actions: auditDeletion },
    sync: { ...syncAgain, actions: [takeUpload, auditSync] },
    update: [{ ...syncAgain, guard: 'movesUrl', actions: [...change, assign({ attempts: 0 })] }, { actions: change }],
  },
  states: {
    created: { always: { target: 'syncing', actions: auditCreation } },
    syncing: {
      meta: { status: 'pending' },
      tags: 'busy',
      entry: { type: 'syncSource', params: ({ context }) => ({ attempt: context.attempts + 1 }) },
      exit: stopWork,
      on: {
        synced: { target: 'ready', actions: [keepDocument, journalSync, notifySync] },
        unchanged: { target: 'ready', actions: [keepTime, journalSame] },
        sync_failed: [
          { guard: 'isLast', target: 'failed', actions: [keepError, journalFailure, notifyFailure] },
          { target: 'pending', actions: [keepError, journalFailure] },
        ],
      },
    },
    pending: { meta: { status: 'pending' }, tags: 'busy', after: { backoff: 'syncing' } },
    ready: { meta: { status: 'ready' }, initial: 'embedding', exit: stopWork, states: atRest },
    // the document that was read last can still be found, also by another embedder
    failed: {
      meta: { status: 'failed' },
      entry: assign({ attempts: 0 }),
      initial: 'embedding',
      exit: stopWork,
      states: atRest,
    },
    erasing: { type: 'final', entry: { type: 'eraseSource', params: {} } },
  },
})
