import type { JsonObject, Scope } from '#storage/index.ts'
import type { Principal } from '../call/call.ts'
import type { FileFilter } from './file-filter.ts'
import { Port } from './port.ts'

/** Who searches: a credential, and the tenant and user for whom the request is made. */
export interface KnowledgeReader {
  readonly principal: Principal
  readonly scope: Scope
  readonly tenant: string | null
  readonly externalUserId: string | null
}

/** One search of several knowledge bases. */
export interface KnowledgeQuery {
  readonly query: string
  /** Maximum number of hits over all bases. */
  readonly limit: number
  /** Minimum score of a hit; 0 for no minimum. */
  readonly threshold: number
  /** Filter on the metadata of documents; null accepts all. */
  readonly filter: FileFilter | null
}

/** A part of a document, with its source. */
export interface KnowledgeFound {
  readonly chunk_id: string
  readonly source_id: string
  /** Id of the source as a file of OpenAI's API. */
  readonly file_id: string
  readonly content: string
  readonly score: number
  readonly metadata: JsonObject
  readonly citation: {
    readonly title: string | null
    readonly page?: number | undefined
    readonly start: number
    readonly end: number
    readonly url?: string | undefined
    readonly filename?: string | undefined
  }
}

/** Knowledge bases, as model calls search them. */
export interface KnowledgeService {
  /**
   * Opens bases for a reader, by their ids.
   *
   * @throws {ServiceError} `not_found` with `param` and the index of the id, for a base that the reader may not search.
   */
  open(reader: KnowledgeReader, bases: readonly string[], param: string): Promise<OpenKnowledge>
}

/** Bases that a reader may search. */
export interface OpenKnowledge {
  /**
   * Returns the best hits over all bases. Access rights are checked again for each search.
   * @throws {StoreUnavailable}
   */
  search(query: KnowledgeQuery): Promise<readonly KnowledgeFound[]>
}

/** Knowledge bases, as model calls search them. */
export const knowledgeService = new Port<KnowledgeService>('the knowledge of bases')
