import { secretKeyOrConsole, secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import { described, id, nullable, object, optional, string, timestamp } from '#specs/dsl/schema.ts'
import { freeFields, metadata } from '#specs/tools.ts'

const name = string({ minLength: 1, maxLength: 256 })
const description = nullable(string({ maxLength: 4096 }))
const words =
  'A collection of documents that are searched together. Each hit cites the exact location that it comes from.'

const fields = {
  name,
  description: described(description, 'What the documents are about. Agents read the description.'),
  tenant_id: described(
    nullable(string({ maxLength: 128 })),
    'Tenant that the knowledge base belongs to. Null if it belongs to the project; tenants can then search it only with a grant.',
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
  access: secretKeyOrConsole,
  ofTenants: 'tenant',
  operations: {
    list: {
      access: secretKeyOrDashboard('member'),
      query: { tenant_id: optional(string({ maxLength: 128 })) },
    },
    create: {
      access: secretKeyOrDashboard('admin'),
      description: 'A tenant can search its own knowledge bases without a grant.',
      errors: ['not_found'],
    },
    get: {
      access: secretKeyOrDashboard('member'),
      description:
        'Returns its settings. Sources are listed by `knowledge_sources.list`, grants by `knowledge_grants.list`.',
    },
    delete: {
      description: 'Deletes the knowledge base with its sources, chunks, grants and recall sets, in the background.',
    },
  },
})

const changes = defineOperations('knowledge_bases', {
  update: {
    summary: 'Update a knowledge base',
    description: 'Changes the fields that the body contains. The tenant of a knowledge base cannot be changed.',
    method: 'PATCH',
    path: '/v1/knowledge-bases/{knowledge_base_id}',
    access: secretKeyOrConsole,
    ofTenants: 'tenant',
    body: object({
      name: optional(name),
      description: optional(description),
      metadata: optional(freeFields),
    }),
    answer: isJsonResponse(
      object(
        {
          id: id('kb'),
          ...fields,
          created_at: described(timestamp(), 'Time at which the resource was created.'),
          updated_at: described(timestamp(), 'Time at which the resource was last updated.'),
        },
        { title: 'KnowledgeBase', description: words },
      ),
    ),
  },
})

/** Collections of documents that are searched together. */
export const knowledgeBases = { ...resource, ...changes } as const

declare module '#specs/index.ts' {
  interface Resources {
    readonly knowledgeBases: typeof knowledgeBases
  }
}
