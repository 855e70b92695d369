import { createHash } from 'node:crypto'
import type { TenantDirectory } from '#actors/tenants/tenant-directory.ts'
import type { ChunkChanges, ReadDocument, SourceContext } from '#machines/knowledge-source/knowledge-source.ts'
import { sourceDefinition } from '#machines/knowledge-source/knowledge-source-definition.ts'
import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { type Clock, contextOf, type EffectContext, type EffectOutcome, type IdempotentEffect } from '#runtime/index.ts'
import { persistently } from '#runtime/internal.ts'
import {
  maxCells,
  maxChunks,
  maxExtractedLength,
  maxPdfPages,
  maxUnpackedBytes,
} from '#specs/resources/knowledge/knowledge-limits.ts'
import type { openDocumentTurns } from '#src/parsing/documents/document-parser.ts'
import type { Refusal } from '#src/parsing/documents/document-refused.ts'
import {
  type DocumentBytes,
  type DocumentRead,
  isDocumentRead,
  isRefused,
} from '#src/parsing/documents/read-document.ts'
import { ParserFailed, type ParserFailure } from '#src/parsing/parser-pool.ts'
import type { StoredEvent } from '#storage/index.ts'
import { storedChunks } from '../schema.ts'
import type { BaseSizes } from './base-sizes.ts'
import { chunksOf, storeDocument } from './document-store.ts'
import { fetchSource } from './fetch-source.ts'
import { maybeScan, readScan, type ScanParts, scanReader } from './read-scan.ts'
import { BlobGone, type BlobOwner, type SourceBlobs } from './source-blobs.ts'
import { SyncFailed } from './sync-failed.ts'

export interface SyncParts extends ScanParts {
  readonly clock: Clock
  readonly blobs: SourceBlobs
  readonly sizes: BaseSizes
  readonly guard: { readonly content: Pick<SsrfGuard, 'request'> }
  readonly turns: ReturnType<typeof openDocumentTurns>
  /** Whether a tenant's URLs are not read again at the moment. */
  readonly rests: TenantDirectory['rests']
  /** Called when the contents of a base have changed. */
  readonly changed: (base: string) => void
  /** ms since the epoch. */
  readonly now: () => number
  /** In [0, 1). */
  readonly random: () => number
}

export const blobOwnerOf = ({ actor, owner }: Pick<EffectContext, 'actor' | 'owner'>): BlobOwner => ({
  project: owner.project,
  tenant: owner.tenant,
  source: actor,
})

/** Reads a source and stores its text and chunks. After a crash, the same blobs are stored again by the same names. */
export const syncSource = (parts: SyncParts): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, context): Promise<EffectOutcome> => {
    const source = contextOf(sourceDefinition, context)
    const resting = await restingEvent(parts, source, context)
    if (resting !== null) return { event: resting }
    try {
      return { event: { ...(await synced(parts, source, context)), at: parts.now() } }
    } catch (error) {
      const { code, message, isFinal } = failureOf(error)
      return { event: { type: 'sync_failed', error: { code, message }, final: isFinal, jitter: parts.random() } }
    }
  },
})

/**
 * Returns the event with which a source stays as it is until its next interval, since no request of a tenant that is
 * suspended begins its sync; null for any other. A URL that was never read is read for the request that added it.
 */
const restingEvent = async (
  { rests }: SyncParts,
  { refresh_interval_s, document, error, synced_at_ms: at }: SourceContext,
  { owner: { project, tenant } }: EffectContext,
): Promise<StoredEvent | null> => {
  if (refresh_interval_s === null || tenant === null) return null
  if (error === null && (document === null || at === null)) return null
  if (!(await rests(project, tenant))) return null
  return error === null ? { type: 'unchanged', at: at ?? 0 } : { type: 'sync_failed', error, final: true, jitter: 0 }
}

interface Syncing {
  readonly source: SourceContext
  readonly context: EffectContext
}

/**
 * Reads and stores within one turn: while the store is away, what was fetched or read by a model is held rather than
 * fetched again, and no more of it than there are turns.
 */
const synced = async (parts: SyncParts, source: SourceContext, context: EffectContext) => {
  const turns = source.type === 'url' ? parts.turns.fetched : parts.turns.stored
  const syncing = { source, context }
  const take = async () => {
    const { read, ...facts } = await readContent(parts, source, context)
    return read === 'scan' ? facts.mime_type : kept(parts, syncing, { ...facts, read })
  }
  const taken = await turns.run(blobOwnerOf(context), take, context.signal)
  return typeof taken === 'string' ? scanRead(parts, syncing, taken) : taken
}

interface ReadContent {
  readonly read: DocumentRead | null
  readonly checksum: string
  readonly size_bytes: number
  readonly mime_type: string
}

/** Stores what was read; null is what was read before. */
const kept = async (parts: SyncParts, { source, context }: Syncing, { read, ...facts }: ReadContent) => {
  if (read === null) return { type: 'unchanged' }
  const owner = blobOwnerOf(context)
  const again = { clock: parts.clock, signal: context.signal }
  const release = await persistently(again, () => reserveChunks(parts, source, { owner, chunks: read.chunks.length }))
  const { document, changes } = await persistently(again, () => stored(parts, source, { owner, read })).catch(
    (error: unknown) => {
      release()
      throw error
    },
  )
  parts.changed(source.knowledge_base_id)
  return { type: 'synced', ...facts, document, changes }
}

/** Loads and parses the content of a source; `read` is null if it is the content that was read before. */
const readContent = async (parts: SyncParts, source: SourceContext, context: EffectContext) => {
  const content = await contentOf(parts, source, context)
  const { bytes, mimeType } = content
  const checksum = createHash('sha256').update(bytes).digest('hex')
  const isKnown = checksum === source.checksum && mimeType === source.mime_type
  const again = { clock: parts.clock, signal: context.signal }
  const isSame = isKnown && (await persistently(again, () => isStored(parts, source, context)))
  const read = isSame ? null : await parsed(parts, content, context)
  return { read, checksum, size_bytes: bytes.length, mime_type: mimeType }
}

/** Whether all of the document that was read before is stored. */
const isStored = async ({ blobs }: SyncParts, { document }: SourceContext, context: EffectContext): Promise<boolean> =>
  document !== null && (await blobs.has(blobOwnerOf(context), [...document.text, ...document.chunks]))

/**
 * Reads a scan with a model, which takes minutes: it has turns of its own, for which it waits without its content.
 */
const scanRead = async (parts: SyncParts, syncing: Syncing, mimeType: string) => {
  const { source, context } = syncing
  const { owner, signal } = context
  const reader = await persistently({ clock: parts.clock, signal }, () => scanReader(parts, owner.project, mimeType))
  const take = async () => {
    const content = await contentOf(parts, source, context)
    const { bytes } = content
    const read = await readScan(parts, content, { owner, signal, reader })
    const checksum = createHash('sha256').update(bytes).digest('hex')
    return kept(parts, syncing, { read, checksum, size_bytes: bytes.length, mime_type: content.mimeType })
  }
  return parts.turns.scanned.run(blobOwnerOf(context), take, signal)
}

const contentOf = async (
  { blobs, guard }: SyncParts,
  source: SourceContext,
  context: EffectContext,
): Promise<DocumentBytes> => {
  if (source.type === 'url') return fetchSource(guard.content, source.url ?? '', context.signal)
  if (source.upload === null) throw new SyncFailed('content_gone', 'The content of the source no longer exists.', true)
  const bytes = await blobs.upload(blobOwnerOf(context), source.upload)
  // the text of a request was stored as UTF-8
  return { bytes, mimeType: source.upload.mime_type, charset: source.type === 'text' ? 'utf-8' : null }
}

const refusals: Readonly<Record<Refusal, readonly [code: string, message: string]>> = {
  too_much_text: ['too_much_text', `The content has more than ${maxExtractedLength} characters of text.`],
  too_many_pages: ['too_many_pages', `The document has more than ${maxPdfPages} pages or slides.`],
  too_many_cells: ['too_many_cells', `The workbook has more than ${maxCells} cells with values.`],
  too_much_unpacked: ['too_complex', `The document unpacks to more than ${maxUnpackedBytes / 1024 / 1024} MB.`],
  declares_entities: ['unreadable', 'The document has a document type declaration, which its format does not allow.'],
  password_protected: ['password_protected', 'The document is protected by a password or by other encryption.'],
  old_office_format: [
    'unsupported_type',
    'The Office document is protected by a password, or has a format that preceded docx, pptx and xlsx.',
  ],
}

const parsed = async (
  { parser }: SyncParts,
  content: DocumentBytes,
  { owner }: EffectContext,
): Promise<DocumentRead | 'scan'> => {
  const read: unknown = await parser.parse('document', content, { owner })
  if (isRefused(read)) throw new SyncFailed(...refusals[read.refused], true)
  if (!isDocumentRead(read)) throw new SyncFailed('unreadable', 'The content cannot be read.', true)
  if (read.chunks.length === 0 && maybeScan(content.mimeType)) return 'scan'
  if (read.chunks.length === 0) throw new SyncFailed('no_text', 'The content contains no text.', true)
  return read
}

const reserveChunks = async (
  { sizes }: SyncParts,
  { knowledge_base_id: base, document }: SourceContext,
  { owner, chunks }: { readonly owner: BlobOwner; readonly chunks: number },
): Promise<() => void> => {
  const added = chunks - (document?.chunk_count ?? 0)
  const release = await sizes.take({ project: owner.project, base, added, max: maxChunks })
  if (release === null)
    throw new SyncFailed('too_many_chunks', `A knowledge base has at most ${maxChunks} chunks.`, true)
  return release
}

const stored = async (
  { blobs }: SyncParts,
  { document: before }: SourceContext,
  { owner, read }: { readonly owner: BlobOwner; readonly read: DocumentRead },
) => {
  const document = await storeDocument(blobs, owner, read)
  return { document, changes: await changesOf({ blobs }, owner, { before, after: document }) }
}

const changesOf = async (
  { blobs }: Pick<SyncParts, 'blobs'>,
  owner: BlobOwner,
  { before, after }: { readonly before: ReadDocument | null; readonly after: ReadDocument },
): Promise<ChunkChanges> => {
  const known = new Set<string>()
  for (const name of before?.chunks ?? []) {
    const text = await blobs.textIfThere(owner, [name])
    if (text !== null) for (const [id] of storedChunks(JSON.parse(text))) known.add(id)
  }
  let unchanged = 0
  for await (const some of chunksOf(blobs, owner, after)) unchanged += some.filter(({ id }) => known.has(id)).length
  return { added: after.chunk_count - unchanged, removed: known.size - unchanged, unchanged }
}

const parserFailures: Readonly<Record<ParserFailure, readonly [code: string, message: string, isFinal: boolean]>> = {
  unreadable: ['unreadable', 'The content does not match its type, or is damaged.', true],
  deadline: ['too_slow', 'The content took too long to read.', true],
  memory: ['too_complex', 'The content takes too much memory to read.', true],
  busy: ['busy', 'Too many documents are being read at the moment.', false],
}

/** Returns the failure that the source reports. Internal errors are rethrown, so that the effect is retried. */
const failureOf = (error: unknown): SyncFailed => {
  if (error instanceof SyncFailed) return error
  if (error instanceof BlobGone)
    return new SyncFailed('content_gone', 'The content of the source no longer exists.', true)
  if (!(error instanceof ParserFailed)) throw error
  return new SyncFailed(...parserFailures[error.reason])
}
