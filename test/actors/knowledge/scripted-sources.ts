import { Readable } from 'node:stream'
import { knowledgeEffects } from '#actors/knowledge/knowledge-effects.ts'
import { BaseSizes } from '#actors/knowledge/sources/base-sizes.ts'
import { SourceBlobs } from '#actors/knowledge/sources/source-blobs.ts'
import type { SyncParts } from '#actors/knowledge/sources/sync-source.ts'
import { EmbeddedProjects } from '#actors/memory/embedding/embedded-projects.ts'
import type { Embedder } from '#retrieval/embedder.ts'
import type { Clock } from '#runtime/clock.ts'
import { chunksOf } from '#src/parsing/documents/chunk.ts'
import { openDocumentTurns } from '#src/parsing/documents/document-parser.ts'
import type { Json, Storage } from '#storage/ports.ts'

/** Behaviour of the readers, embedders and pages of a simulation. */
export interface ScriptedDocuments {
  /** Reads a document; by default as text. */
  readonly read?: (bytes: Uint8Array) => Promise<Json>
  /** Reads documents instead of `read`. */
  readonly parser?: SyncParts['parser']
  readonly embedder?: () => Promise<Embedder | null>
  /** Whether a tenant's URLs are not read again; always read when absent. */
  readonly rests?: SyncParts['rests']
  /** Status and text of a page. */
  readonly page?: () => { readonly status: number; readonly text: string }
}

/** A text as the worker reads it. */
export const readText = async (bytes: Uint8Array): Promise<Json> => {
  const text = Buffer.from(bytes).toString('utf8')
  return { title: null, text, page_count: null, chunks: [...chunksOf(text)].map((chunk) => ({ ...chunk })) }
}

/** Effects of sources without a worker and a network, for simulations in virtual time. */
export const scriptedSources = ({
  storage,
  clock,
  read = readText,
  parser = { parse: (_task, input) => read('bytes' in input ? input.bytes : new Uint8Array()) },
  embedder = async () => null,
  rests = async () => false,
  page = () => ({ status: 200, text: 'Words of a page.' }),
}: ScriptedDocuments & { readonly storage: Storage; readonly clock: Clock }) =>
  knowledgeEffects({
    storage,
    clock,
    blobs: new SourceBlobs(storage.blobs, clock.now),
    vectors: storage.vectors,
    log: { warn: () => {} },
    sizes: new BaseSizes(storage.records, clock.now),
    parser,
    turns: openDocumentTurns(),
    guard: { content: { request: async () => answerOf(page()) } },
    embedderOf: embedder,
    imageReaderOf: async () => null,
    rests,
    changed: () => {},
    projects: new EmbeddedProjects(storage.records, clock.now),
    now: clock.now,
    random: () => 0,
  })

const answerOf = ({ status, text }: ReturnType<NonNullable<ScriptedDocuments['page']>>) => ({
  statusCode: status,
  statusText: '',
  headers: { 'content-type': 'text/plain' },
  trailers: {},
  opaque: null,
  context: {},
  body: Object(Readable.from([Buffer.from(text)])),
})
