import type { Embedder, OlderText } from '#retrieval/index.ts'
import { Port } from './port.ts'

/** The embedder that runs on this machine; null when none is configured. */
export const localEmbedderPort = new Port<Embedder | null>('the local embedder')

/** The embedder of web pages; null when they are found by their words. */
export const pageEmbedderPort = new Port<Embedder | null>('the embedder of web pages')

/** The model of `/v1/embeddings` for projects whose settings name no embedder; null: the local embedder. */
export const defaultEmbedderPort = new Port<string | null>('the default embedder')

/** The owner for whom embeddings are computed, and who is charged. */
interface EmbeddedFor {
  readonly project: string
  readonly tenant: string | null
  /** The caller's id of the end user; null for none. */
  readonly user: string | null
}

/** Embeddings of one request, and their cost. */
export interface Embedded {
  readonly vectors: readonly Float32Array[]
  readonly costUsd: number
  readonly model: string | null
  readonly provider: string | null
}

/** Computes embedding vectors of texts for a project. */
export interface ProjectEmbedder {
  /** Identifies the embedding model: vectors of different ids are never compared. */
  readonly id: string
  /** @throws {ServiceError} when the embedding fails. */
  embed(texts: readonly string[], kind: 'query' | 'passage', owner: EmbeddedFor): Promise<Embedded>
  /** Reads a question and texts together (`Embedder`); absent: it cannot. */
  read?(question: string, texts: readonly string[]): Promise<readonly number[] | null>
  /** Judges which older texts a text updates (`Embedder`); absent: it cannot. */
  compare?(text: string, older: readonly OlderText[]): Promise<readonly number[] | null>
}

/** Returns the embedder that a project's settings select; null when its texts are found by words only. */
export const projectEmbeddersPort = new Port<(project: string) => Promise<ProjectEmbedder | null>>(
  'the embedders of projects',
)

/** Projects that have memories or knowledge with vectors, for maintenance tasks that go through them. */
export interface EmbeddedProjectList {
  /** Adds a project that has vectors, or is about to. @throws {StoreUnavailable} */
  note(project: string): Promise<void>
  /** Returns a page of projects in order of id, after `after`. @throws {StoreUnavailable} */
  page(
    after: string | undefined,
    limit: number,
  ): Promise<readonly { readonly id: string; readonly data: { readonly project: string } }[]>
}

export const embeddedProjectsPort = new Port<EmbeddedProjectList>('the projects with vectors')
