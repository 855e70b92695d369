import { secretKeyOnly, secretKeyOrDashboard } from '#specs/access.ts'
import { answersJson } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import { described, id, nullable, object, optional, string, timestamp } from '#specs/dsl/schema.ts'
import { freeFields, metadata } from '#specs/tools.ts'

const name = string({ minLength: 1, maxLength: 256 })
const description = nullable(string({ maxLength: 4096 }))
const words = 'Documents that are searched together. Each hit cites the exact place that it comes from.'

const fields = {
  name,
  description: described(description, 'Says what the documents are about: agents read it.'),
  tenant_id: described(
    nullable(string({ maxLength: 128 })),
    'Tenant that the knowledge base belongs to. Null: it is the project’s, and tenants see it by grants only.',
  ),
  metadata,
}

const resource = defineResource('knowledge_bases', {
  path: '/v1/knowledge-bases',
  key: 'knowledge_base_id',
  idPrefix: 'kb',
  title: 'KnowledgeBase',
  description: words,
  fields,
  writable: ['name', 'description', 'tenant_id', 'metadata'],
  access: secretKeyOnly,
  ofTenants: 'tenant',
  operations: {
    list: {
      access: secretKeyOrDashboard('member'),
      query: { tenant_id: optional(string({ maxLength: 128 })) },
    },
    create: {
      access: secretKeyOrDashboard('admin'),
      description: 'A knowledge base of a tenant is searched by that tenant without a grant.',
      errors: ['not_found'],
    },
    get: { access: secretKeyOrDashboard('member') },
    delete: {
      description: 'Deletes the knowledge base with its sources, chunks, grants and recall sets, in the background.',
    },
  },
})

const changes = defineOperations('knowledge_bases', {
  update: {
    summary: 'Update a knowledge base',
    description: 'Changes the fields that the body names. A knowledge base stays with its tenant.',
    method: 'PATCH',
    path: '/v1/knowledge-bases/{knowledge_base_id}',
    access: secretKeyOnly,
    ofTenants: 'tenant',
    body: object({
      name: optional(name),
      description: optional(description),
      metadata: optional(freeFields),
    }),
    answer: answersJson(
      object(
        {
          id: id('kb'),
          ...fields,
          created_at: described(timestamp(), 'Time of creation.'),
          updated_at: described(timestamp(), 'Time of the last change.'),
        },
        { title: 'KnowledgeBase', description: words },
      ),
    ),
  },
})

/** Documents that are searched together. */
export const knowledgeBases = { ...resource, ...changes } as const

declare module '#specs/index.ts' {
  interface Resources {
    readonly knowledgeBases: typeof knowledgeBases
  }
}
