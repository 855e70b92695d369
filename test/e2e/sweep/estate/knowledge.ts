import type { Answered } from '#test/e2e/api.ts'
import { KnowledgeBase } from '#test/e2e/knowledge/knowledge-world.ts'
import type { EstatePart } from './estate-part.ts'

/** The estate of knowledge: a knowledge base of the tenant with one of each of its resources. */
export const knowledge: EstatePart = {
  make: async ({ api, mark, id }) => {
    const headers = { 'x-tenant-id': id('tenant_id') }
    const of = api.with(headers)
    const upload = new KnowledgeBase(of, '').form('/v1/files', `${mark}.txt`, mark, { purpose: 'user_data' })
    const file_id = (await answered(upload)).id
    const store = await answered(of.post('/v1/vector_stores', { name: mark, file_ids: [file_id] }))
    const batches = `/v1/vector_stores/${store.id}/file_batches`
    const batch = await answered(of.post(batches, { file_ids: [file_id] }))
    return { file_id, vector_store_id: store.id, file_batch_id: batch.id }
  },
  bodies: {
    'vector_stores.create': ({ mark, id }, n) => ({ name: `${mark} ${n}`, file_ids: [id('file_id')] }),
    'files.create': (_, n) => ({ purpose: n % 2 === 0 ? 'assistants' : 'user_data' }),
    'vector_store_files.create': ({ id }, n) => ({ file_id: id('file_id'), attributes: { n } }),
    'vector_store_file_batches.create': ({ id }, n) => ({ file_ids: [id('file_id')], attributes: { n } }),
    'knowledge_bases.create': ({ mark, id }, n) => ({ name: `${mark} ${n}`, tenant_id: id('tenant_id') }),
    // a repeated grant returns the existing one, so each goes to a new agent
    'knowledge_grants.create': async ({ mark, made }, n) => ({
      subject_type: 'agent',
      subject_id: await made('/v1/agents', { name: `Granted ${mark} ${n}`, config: { model: 'simulated-1' } }),
    }),
    'knowledge_sources.create': ({ mark }, n) => ({ text: `${mark} ${n}` }),
    'knowledge_recall_sets.create': ({ mark }, n) => ({
      ...{ name: `${mark} ${n}`, questions: [{ question: mark, text: mark }] },
    }),
  },
  beyondSchema: {
    'files.create': 'a file is a part of the form',
    'vector_stores.create': 'files are uploaded',
    'vector_stores.search': 'filters are comparisons',
    'vector_store_files.create': 'a file is uploaded',
    'vector_store_file_batches.create': 'it names file_ids or files',
    'knowledge_recall_sets.create': 'a question names a source or a text',
    'knowledge_sources.create': 'fields of a form are texts, and a source is a text, a file or a URL',
    'knowledge_sources.update': 'a URL as of webhooks',
    'knowledge_sources.sync': 'a source that is read from a URL takes no text',
  },
}

const answered = async (answer: Promise<Answered>): Promise<Answered['body']> => {
  const { status, body } = await answer
  if (status >= 300) throw new Error(JSON.stringify(body))
  return body
}
