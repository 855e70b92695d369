import { secretKeyOrConsole } from '#specs/access.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import { array, defaulted, described, id, oneOf, optional, string } from '#specs/dsl/schema.ts'

/** Kinds of subjects that a knowledge base can be granted to. */
export const subjectTypes = ['tenant', 'agent', 'installation', 'end_user'] as const

/** Grants, which let subjects search a knowledge base. */
export const knowledgeGrants = defineResource('knowledge_grants', {
  path: '/v1/knowledge-bases/{knowledge_base_id}/grants',
  key: 'grant_id',
  idPrefix: 'grt',
  olderIdPrefix: 'kgr',
  title: 'KnowledgeGrant',
  description: 'Allows a tenant, an agent, an installation or an end user to search a knowledge base.',
  fields: {
    knowledge_base_id: id('kb'),
    subject_type: oneOf(...subjectTypes),
    subject_id: described(
      string({ minLength: 1, maxLength: 128 }),
      'Id of the tenant, the agent, the installation, or the user of a tenant (`usr_…`) or of the project (`eus_…`).',
    ),
    permissions: described(
      defaulted(array(oneOf('read'), { minItems: 1, maxItems: 1 }), ['read']),
      'Permissions that are granted.',
    ),
  },
  writable: ['subject_type', 'subject_id', 'permissions'],
  access: secretKeyOrConsole,
  ofTenants: 'tenant',
  operations: {
    list: { query: { subject_type: optional(oneOf(...subjectTypes)) } },
    create: {
      description:
        'If the grant exists already, it is returned. A knowledge base that belongs to a tenant can be granted only to subjects of that tenant and to agents.',
      errors: ['not_found', 'knowledge_limit_reached'],
    },
    delete: {
      summary: 'Revoke a knowledge grant',
      description: 'The next search of the subject no longer finds the knowledge base.',
    },
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly knowledgeGrants: typeof knowledgeGrants
  }
}
