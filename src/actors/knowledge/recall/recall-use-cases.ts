import type { UseCasesOf } from '#actors/call/use-cases.ts'
import { Audited } from '#records/audited.ts'
import { RecordResource } from '#records/record-resource.ts'
import { rowTimes } from '#records/row-times.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { newIdFor } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { RecordStore, Scope } from '#storage/index.ts'
import type { BaseAccess } from '../access/base-access.ts'
import { knowledgeRecallSets, type RecallQuestion, type RecallSetData } from '../kinds.ts'
import { type KnowledgeHit, type SearchParts, searchBase } from '../search/search-base.ts'

export interface RecallParts extends SearchParts {
  readonly records: RecordStore
  readonly access: BaseAccess
}

type Place = { readonly knowledge_base_id: string; readonly recall_set_id: string }

/** Use-cases of recall sets, including a run that counts the questions for which a base finds the answer. */
export const recallUseCases = (parts: RecallParts): UseCasesOf<'knowledge_recall_sets'> => {
  const table = new Table(parts.records, knowledgeRecallSets, parts.now)
  const resource = new RecordResource({ table, idPrefix: 'krs', view: setView })
  const { access } = parts
  const find = async (scope: Scope, { knowledge_base_id, recall_set_id }: Place): Promise<Row<RecallSetData>> => {
    const base = await access.base(scope, knowledge_base_id)
    const row = await table.get(scope, recall_set_id)
    if (row?.data.knowledge_base_id !== base.id) throw new ServiceError('not_found')
    return row
  }
  return {
    'knowledge_recall_sets.list': async ({ scope, params, query }) => {
      const { id } = await access.base(scope, params.knowledge_base_id)
      return resource.list(scope, { ...query, where: { knowledge_base_id: id } })
    },
    'knowledge_recall_sets.get': async ({ scope, params }) => setView(await find(scope, params)),
    'knowledge_recall_sets.create': async (call) => {
      const base = await access.base(call.scope, call.params.knowledge_base_id)
      const id = newIdFor(call, 'krs')
      const { name, questions } = call.body
      requireAnswers(questions)
      const data = { knowledge_base_id: base.id, name, questions }
      const notices = [new Audited(call, 'knowledge_recall_set').line('created', id)]
      return resource.create(call.scope, { id, project: base.project, tenant: base.tenant, data, notices })
    },
    'knowledge_recall_sets.delete': async (call) => {
      const { id } = await find(call.scope, call.params)
      return resource.remove(call.scope, id, new Audited(call, 'knowledge_recall_set').removed())
    },
    'knowledge_recall_sets.measure': async ({ scope, params, body: { k } }) => {
      const { data, project, tenant } = await find(scope, params)
      const ranks: (number | null)[] = []
      let embedder: string | null = null
      for (const wanted of data.questions) {
        const base = { project, tenant, base: data.knowledge_base_id }
        const search = { ...base, query: wanted.question, top_k: k, threshold: 0 }
        const found = await searchBase(parts, { ...search, filter: null, explain: false })
        embedder = found.embedder
        const rank = found.data.findIndex((hit) => isRight(hit, wanted)) + 1
        ranks.push(rank === 0 ? null : rank)
      }
      const right = ranks.filter((rank) => rank !== null)
      return {
        ...{ k, embedder },
        recall: right.length / ranks.length,
        mrr: right.reduce((sum, rank) => sum + 1 / rank, 0) / ranks.length,
        questions: data.questions.map(({ question }, index) => ({ question, rank: ranks[index] ?? null })),
      }
    },
  }
}

/** Requires an expected answer for each question. @throws {ServiceError} `missing_field` */
const requireAnswers = (questions: readonly RecallQuestion[]): void => {
  const at = questions.findIndex(({ source_id, text }) => source_id === undefined && text === undefined)
  if (at < 0) return
  const message = 'A question must have source_id or text, which answers it.'
  throw new ServiceError('missing_field', { param: `questions[${at}].source_id`, message })
}

const isRight = ({ source_id, content }: KnowledgeHit, wanted: RecallQuestion): boolean =>
  (wanted.source_id === undefined || wanted.source_id === source_id) &&
  (wanted.text === undefined || content.toLowerCase().includes(wanted.text.toLowerCase()))

const setView = (row: Row<RecallSetData>) => ({ id: row.id, ...row.data, ...rowTimes(row) })
