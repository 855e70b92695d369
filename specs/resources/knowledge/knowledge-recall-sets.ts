import { secretKeyOrConsole } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
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
import { maxQuestionLength, maxQuestions, maxTopK } from './knowledge-limits.ts'

const path = '/v1/knowledge-bases/{knowledge_base_id}/recall-sets'

const question = object(
  {
    question: string({ minLength: 1, maxLength: maxQuestionLength }),
    source_id: described(optional(string({ minLength: 1, maxLength: 128 })), 'Source that answers the question.'),
    text: described(
      optional(string({ minLength: 1, maxLength: 2000 })),
      'Text that a correct hit contains; case is ignored.',
    ),
  },
  { title: 'RecallQuestion', description: 'A question with its correct answer.' },
)

const resource = defineResource('knowledge_recall_sets', {
  path,
  key: 'recall_set_id',
  idPrefix: 'krs',
  title: 'KnowledgeRecallSet',
  description: 'Questions with known answers that measure the search of a knowledge base.',
  fields: {
    knowledge_base_id: id('kb'),
    name: string({ minLength: 1, maxLength: 256 }),
    questions: array(question, { minItems: 1, maxItems: maxQuestions }),
  },
  writable: ['name', 'questions'],
  access: secretKeyOrConsole,
  ofTenants: 'tenant',
  operations: {
    list: {},
    create: {
      description:
        'Stores questions with their answers. `knowledge_recall_sets.measure` runs them against the knowledge base.',
    },
    get: { description: 'Returns the questions of the set with their correct answers.' },
    delete: { description: 'Deletes the questions. The knowledge base and its sources stay as they are.' },
  },
})

const measuring = defineOperations('knowledge_recall_sets', {
  measure: {
    summary: 'Measure the recall of a knowledge base',
    description:
      'Runs a search for each question and returns the share of questions with a correct hit among the first `k`.',
    method: 'POST',
    path: `${path}/{recall_set_id}/measure`,
    access: secretKeyOrConsole,
    ofTenants: 'tenant',
    body: object({
      k: described(
        defaulted(integer({ min: 1, max: maxTopK }), 5),
        'Number of hits per question to consider. Default: 5.',
      ),
    }),
    answer: isJsonResponse(
      object({
        k: integer(),
        recall: described(number(), 'Share of the questions with a correct hit among the first `k`, from 0 to 1.'),
        mrr: described(number(), 'Mean reciprocal rank: the mean of 1 divided by the rank of the first correct hit.'),
        embedder: nullable(string()),
        questions: array(
          object({
            question: string(),
            rank: described(nullable(integer()), 'Rank of the first correct hit, starting at 1.'),
          }),
        ),
      }),
    ),
    idempotency: 'ignored',
  },
})

/** Sets of questions with expected answers, which measure the recall of a knowledge base. */
export const knowledgeRecallSets = { ...resource, ...measuring } as const

declare module '#specs/index.ts' {
  interface Resources {
    readonly knowledgeRecallSets: typeof knowledgeRecallSets
  }
}
