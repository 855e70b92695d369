import { openDocumentParser, openDocumentTurns } from '#src/parsing/documents/document-parser.ts'
import { embeddedProjectsPort, projectEmbeddersPort } from '../capability/embedder-port.ts'
import { erasedCopiesPort } from '../capability/erased-copies.ts'
import { imageReadersPort } from '../capability/image-reader.ts'
import { indexBoundPort } from '../capability/index-bound.ts'
import type { Services } from '../capability/services.ts'
import type { TenantDirectory } from '../tenants/tenant-directory.ts'
import { sourceRows } from './kinds.ts'
import { knowledgeEffects } from './knowledge-effects.ts'
import { BaseIndexes } from './search/base-indexes.ts'
import { FoundChunks } from './search/found-chunks.ts'
import { baseServer, baseService } from './search/search-base.ts'
import { BaseSizes } from './sources/base-sizes.ts'
import type { EmbedderOf } from './sources/embed-source.ts'
import { SourceBlobs } from './sources/source-blobs.ts'
import { VectorRounds } from './sources/vector-rounds.ts'

/** Minimum time between two requests for the same vectors of a source, in ms. */
const embedAgainMs = 10 * 60_000
const maxRequested = 10_000

/** Opens what stores, indexes and embeds knowledge on this node. @param rests as in `TenantDirectory` */
export const openKnowledge = (services: Services, rests: TenantDirectory['rests']) => {
  const { storage, records, clock, log, guard, now, host } = services
  const embedderOfProject = projectEmbeddersPort.of(services)
  const embedderOf: EmbedderOf = async (project) => {
    const embedder = await embedderOfProject(project)
    if (embedder === null) return null
    const owner = { project, tenant: null, user: null }
    return { id: embedder.id, embed: async (texts, use) => (await embedder.embed(texts, use, owner)).vectors }
  }
  const { vectors } = storage
  if (vectors !== null) log.info({ min_chunks: vectors.min }, 'the database searches vectors of large knowledge bases')
  const blobs = new SourceBlobs(storage.blobs, now)
  const requested = new Map<string, { readonly wanted: string; readonly at: number }>()
  const embedAgain = async (source: string, wanted: string): Promise<void> => {
    const known = requested.get(source)
    if (known?.wanted === wanted && now() - known.at < embedAgainMs) return
    if (requested.size >= maxRequested) requested.clear()
    requested.set(source, { wanted, at: now() })
    await host.deliver(source, { event: { type: 'embed' }, cause: `embed:${wanted}:${now()}` })
  }
  const shown = () => host.rows.shown()
  const projects = embeddedProjectsPort.of(services)
  const isOurs = (project: string) => host.ownership.heldUnder(host.ownership.space.of(project)) !== undefined
  const indexes = new BaseIndexes({
    ...{ records, blobs, vectors, clock, log, shown, embedderOf, embedAgain, projects, isOurs },
    ...{ segments: storage.blobs, bound: indexBoundPort.of(services) },
  })
  host.rows.watch(sourceRows, indexes.watch)
  const found = new FoundChunks({ blobs, indexes })
  erasedCopiesPort.of(services).keptBy((erased) => {
    indexes.dropErased(erased)
    found.dropErased(erased)
  })
  const rounds = new VectorRounds({
    ...{ records, clock, projects, embedAgain, log },
    embedderOf: async (project) => (await embedderOf(project))?.id ?? null,
    isOurs,
  })
  const changed = (base: string): void => indexes.changed(base)
  const sizes = new BaseSizes(records, now)
  const parser = openDocumentParser()
  const turns = openDocumentTurns()
  const effects = knowledgeEffects({
    ...{ storage, clock, blobs, vectors, sizes, guard, parser, turns, embedderOf, changed, now, projects, log },
    imageReaderOf: (project) => imageReadersPort.of(services)(project),
    rests,
    random: Math.random,
  })
  const close = async (): Promise<void> => {
    await rounds.stop()
    await parser.close()
  }
  const { placed } = host
  placed.serve(baseService, baseServer({ indexes, found, embedderOf, vectors, clock, log, now }))
  return { blobs, indexes, found, vectors, placed, embedderOf, changed, effects, rounds, close }
}
