import { secretKeyOnly } from '#specs/access.ts'
import { answersJson } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import {
  array,
  defaulted,
  described,
  id,
  integer,
  nullable,
  number,
  object,
  optional,
  string,
} from '#specs/dsl/schema.ts'
import { maxQueryLength, maxQuestions, maxTopK } from './knowledge-limits.ts'

const path = '/v1/knowledge-bases/{knowledge_base_id}/recall-sets'

const question = object(
  {
    question: string({ minLength: 1, maxLength: maxQueryLength }),
    source_id: described(optional(string({ minLength: 1, maxLength: 128 })), 'Source that answers the question.'),
    text: described(
      optional(string({ minLength: 1, maxLength: 2000 })),
      'Text that a right hit contains; upper and lower case count as one.',
    ),
  },
  { title: 'RecallQuestion', description: 'A question, and what a right hit is.' },
)

const resource = defineResource('knowledge_recall_sets', {
  path,
  key: 'recall_set_id',
  idPrefix: 'krs',
  title: 'KnowledgeRecallSet',
  description: 'Questions with known answers, by which the search of a knowledge base is measured.',
  fields: {
    knowledge_base_id: id('kb'),
    name: string({ minLength: 1, maxLength: 256 }),
    questions: array(question, { minItems: 1, maxItems: maxQuestions }),
  },
  writable: ['name', 'questions'],
  access: secretKeyOnly,
  ofTenants: 'tenant',
  operations: { list: {}, create: {}, get: {}, delete: {} },
})

const measuring = defineOperations('knowledge_recall_sets', {
  measure: {
    summary: 'Measure the recall of a knowledge base',
    description: 'Searches for each question now, and returns how many right hits are among the first `k`.',
    method: 'POST',
    path: `${path}/{recall_set_id}/measure`,
    access: secretKeyOnly,
    ofTenants: 'tenant',
    body: object({ k: described(defaulted(integer({ min: 1, max: maxTopK }), 5), 'Hits that count. Default: 5.') }),
    answer: answersJson(
      object({
        k: integer(),
        recall: described(number(), 'Share of the questions with a right hit among the first `k`.'),
        mrr: described(number(), 'Mean of 1 divided by the rank of the first right hit.'),
        embedder: nullable(string()),
        questions: array(
          object({ question: string(), rank: described(nullable(integer()), 'Rank of the first right hit, from 1.') }),
        ),
      }),
    ),
    idempotency: 'ignored',
  },
})

/** Questions with known answers. */
export const knowledgeRecallSets = { ...resource, ...measuring } as const

declare module '#specs/index.ts' {
  interface Resources {
    readonly knowledgeRecallSets: typeof knowledgeRecallSets
  }
}
