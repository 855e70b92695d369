import type { UseCases, UseCasesOf } from '#actors/call/use-cases.ts'
import { fileFilter } from '#actors/capability/file-filter.ts'
import { openAiPage, openAiRows } from '#actors/capability/openai-pages.ts'
import { actorOf } from '#records/audit-note.ts'
import type { Row } from '#records/schema.ts'
import { isObject } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope } from '#storage/index.ts'
import { type BaseParts, type BaseUseCases, baseMaker } from '../base-use-cases.ts'
import type { KnowledgeBaseData } from '../kinds.ts'
import { type KnowledgeHit, searchBase } from '../search/search-base.ts'
import { additionNotice } from './store-additions.ts'
import type { AddedFile, StoreFileParts, StoreFiles } from './store-files.ts'
import { StoreTotals } from './store-totals.ts'
import { baseIdOf, type StoreView, storeIdOf, storeView } from './store-views.ts'

export interface StoreParts extends BaseParts, Pick<StoreFileParts, 'host' | 'records' | 'clock'> {
  readonly storeFiles: StoreFiles
  /** The use-cases of knowledge bases, of which these are another form. */
  readonly bases: BaseUseCases
}

const usualResults = 10

/** Use-cases of OpenAI's vector stores, which are knowledge bases. */
export const storeUseCases = (parts: StoreParts): UseCasesOf<'vector_stores'> => {
  const { access, storeFiles, bases, records, host, clock } = parts
  const make = baseMaker(parts)
  const totals = new StoreTotals(records, clock.now)
  const viewOf = async (base: Row<KnowledgeBaseData>): Promise<StoreView> => storeView(base, await totals.of(base))
  const find = async (...[scope, store]: Parameters<typeof storeFiles.sources.baseOf>): Promise<StoreView> => {
    const base = await storeFiles.sources.baseOf(scope, baseIdOf(store))
    await host.rows.shown()
    return viewOf(base)
  }
  return {
    'vector_stores.create': async (call) => {
      const { scope, body } = call
      const files = (body.file_ids ?? []).map((file_id, at): AddedFile => ({ file_id, param: `file_ids[${at}]` }))
      await storeFiles.check(scope, files)
      const { name, description = null, metadata } = body
      const made = { name: name ?? 'Vector store', description, tenant_id: scope.tenant, metadata: metadata ?? {} }
      const by = actorOf(call)
      const { id } = await make({ ...call, body: made }, (base) => additionNotice({ base, files, by, request: base }))
      await storeFiles.addAll(scope, { base: id, files, by, request: id })
      return find(scope, id)
    },
    'vector_stores.list': async ({ scope, query }) => {
      const { after, ...page } = query
      const where = after === undefined ? {} : { after: baseIdOf(after) }
      const { rows, more } = await openAiRows(access.bases, scope, { ...page, ...where })
      await host.rows.shown()
      const data: StoreView[] = []
      for (const row of rows) data.push(await viewOf(row))
      return openAiPage(data, more)
    },
    'vector_stores.get': ({ scope, params }) => find(scope, params.vector_store_id),
    'vector_stores.update': async (call) => {
      const knowledge_base_id = baseIdOf(call.params.vector_store_id)
      const { name, metadata } = call.body
      const body = {
        ...(name !== undefined && name !== null && { name }),
        ...(metadata !== undefined && { metadata: metadata ?? {} }),
      }
      await bases['knowledge_bases.update']({ ...call, params: { knowledge_base_id }, body })
      return find(call.scope, knowledge_base_id)
    },
    'vector_stores.delete': async (call) => {
      const knowledge_base_id = baseIdOf(call.params.vector_store_id)
      await bases['knowledge_bases.delete']({ ...call, params: { knowledge_base_id }, query: {} })
      return { id: storeIdOf(knowledge_base_id), object: 'vector_store.deleted', deleted: true }
    },
    'vector_stores.search': async (call) => searched(parts, call),
  }
}

type SearchCall = Parameters<UseCases['vector_stores.search']>[0]

const searched = async (parts: StoreParts, { principal, scope, params, body }: SearchCall) => {
  const { access } = parts
  const { project } = scope
  const base = await access.bases.get(projectScope(project), baseIdOf(params.vector_store_id))
  if (base === null || !(await access.maySearch(base, await access.searcherOf(principal, scope))))
    throw new ServiceError('not_found')
  const { query, filters, max_num_results: top_k = usualResults, ranking_options } = body
  const filter = isObject(filters) ? { file: fileFilter(filters, 'filters') } : null
  const queries = typeof query === 'string' ? [query] : query
  const threshold = ranking_options?.score_threshold ?? 0
  const search = { project, tenant: base.tenant, base: base.id, top_k, threshold, filter, explain: false }
  const found: KnowledgeHit[] = []
  for (const each of queries) found.push(...(await searchBase(parts, { ...search, query: each })).data)
  const hits = [...bestById(found).values()].toSorted((one, other) => other.score - one.score).slice(0, top_k)
  return {
    object: 'vector_store.search_results.page' as const,
    search_query: queries,
    data: hits.map(hitView),
    ...{ has_more: false as const, next_page: null },
  }
}

/** The hits of several queries, each chunk once with its best score. */
const bestById = (hits: readonly KnowledgeHit[]): ReadonlyMap<string, KnowledgeHit> => {
  const best = new Map<string, KnowledgeHit>()
  for (const hit of hits) {
    const known = best.get(hit.chunk_id)
    if (known === undefined || known.score < hit.score) best.set(hit.chunk_id, hit)
  }
  return best
}

const hitView = ({ file_id, content, score, metadata, citation }: KnowledgeHit) => ({
  file_id,
  filename: citation.filename ?? citation.title ?? citation.url ?? file_id,
  score,
  attributes: metadata,
  content: [{ type: 'text' as const, text: content }],
})
