import type { KnowledgeReader, KnowledgeService } from '#actors/capability/knowledge-service.ts'
import type { Row } from '#records/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { maxQueryLength } from '#specs/resources/knowledge/knowledge-limits.ts'
import { projectScope } from '#storage/index.ts'
import { type BaseAccess, everything, type Searcher } from '../access/base-access.ts'
import type { KnowledgeBaseData } from '../kinds.ts'
import { type SearchParts, searchBase } from './search-base.ts'

export interface ReadingParts extends SearchParts {
  readonly access: BaseAccess
}

/** The service through which model calls search knowledge bases. */
export const knowledgeReading = (parts: ReadingParts): KnowledgeService => ({
  open: async (reader, ids, param) => {
    const { project } = reader.scope
    const searcher = await searcherOf(parts.access, reader)
    for (const [at, id] of ids.entries()) {
      if ((await openBase(parts.access, project, { id, searcher })) === null)
        throw new ServiceError('not_found', { param: `${param}[${at}]`, message: `There is no knowledge base ${id}.` })
    }
    return {
      search: async ({ query, limit, threshold, filter }) => {
        const found = await Promise.all(
          ids.map(async (id) => {
            const base = await openBase(parts.access, project, { id, searcher })
            if (base === null) return []
            const search = {
              project,
              tenant: base.tenant,
              base: base.id,
              query: query.slice(0, maxQueryLength),
              top_k: limit,
              threshold,
            }
            const where = filter === null ? null : { file: filter }
            return (await searchBase(parts, { ...search, filter: where, explain: false })).data
          }),
        )
        return found
          .flat()
          .toSorted((a, b) => b.score - a.score)
          .slice(0, limit)
      },
    }
  },
})

/** Returns the searcher of a model call. A project's key that acts for a tenant has the tenant's access only. */
const searcherOf = async (
  access: BaseAccess,
  { principal, scope, tenant, externalUserId }: KnowledgeReader,
): Promise<Searcher | typeof everything> => {
  const searcher = await access.searcherOf(principal, scope)
  if (searcher !== everything || tenant === null) return searcher
  return { tenant, subjects: await access.subjectsOf(scope.project, tenant, externalUserId) }
}

const openBase = async (
  access: BaseAccess,
  project: string,
  { id, searcher }: { readonly id: string; readonly searcher: Searcher | typeof everything },
): Promise<Row<KnowledgeBaseData> | null> => {
  const base = await access.bases.get(projectScope(project), id)
  return base !== null && (await access.maySearch(base, searcher)) ? base : null
}
