import type { EstatePart } from './estate-part.ts'

/** The estate of knowledge: a knowledge base of the tenant with one of each of its resources. */
export const knowledge: EstatePart = {
  bodies: {
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
    'knowledge_recall_sets.create': 'a question names a source or a text',
    'knowledge_sources.create': 'fields of a form are texts, and a source is a text, a file or a URL',
    'knowledge_sources.update': 'a URL as of webhooks',
    'knowledge_sources.sync': 'a source that is read from a URL takes no text',
  },
}
