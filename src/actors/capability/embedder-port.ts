import type { Embedder } from '#retrieval/embedder.ts'
import { Port } from './port.ts'

/** The embedder of this machine; null: none was given. */
export const localEmbedderPort = new Port<Embedder | null>('the local embedder')

/** Whom embeddings are made and charged for. */
export interface EmbeddedFor {
  readonly project: string
  readonly tenant: string | null
  /** Your id of the end user; null for none. */
  readonly user: string | null
}

/** What embeddings of one request came to. */
export interface Embedded {
  readonly vectors: readonly Float32Array[]
  readonly costUsd: number
  readonly model: string | null
  readonly provider: string | null
}

/** Makes vectors of texts for a project. */
export interface ProjectEmbedder {
  /** Names what makes the vectors: vectors of different ids are never compared. */
  readonly id: string
  /** @throws {ServiceError} when it cannot. */
  embed(texts: readonly string[], kind: 'query' | 'passage', owner: EmbeddedFor): Promise<Embedded>
}

/** The embedder of a project by its settings; null for none: what it has is found by words. */
export const projectEmbeddersPort = new Port<(project: string) => Promise<ProjectEmbedder | null>>(
  'the embedders of projects',
)

/** The projects that have something with vectors, memories or knowledge: who looks after those goes through them. */
export interface EmbeddedProjectList {
  /** Notes that a project has something with vectors, or is about to. @throws {StoreUnavailable} */
  note(project: string): Promise<void>
  /** Projects by id, after `after`. @throws {StoreUnavailable} */
  page(
    after: string | undefined,
    limit: number,
  ): Promise<readonly { readonly id: string; readonly data: { readonly project: string } }[]>
}

export const embeddedProjectsPort = new Port<EmbeddedProjectList>('the projects with vectors')
