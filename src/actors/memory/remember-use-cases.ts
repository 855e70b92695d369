import { callerOf } from '#gateway/call/caller.ts'
import { guardrailNames } from '#gateway/call/guarding/guardrail-names.ts'
import { memoryWriteDefinition } from '#machines/memory-write/memory-write-definition.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf, ResultOf } from '#specs/index.ts'
import type { Call } from '../call/call.ts'
import { orNotFound } from '../call/not-found.ts'
import { modelLimitOf } from '../call/reach.ts'
import type { UseCases } from '../call/use-cases.ts'
import { timestampOf } from '../records/row-times.ts'
import { newIdFor } from '../runtime/internal.ts'
import type { ExtractByRules } from './extract-by-rules.ts'
import { graphIn } from './indexes/memory-graph.ts'
import { instantOf } from './instant.ts'
import type { FactData } from './kinds.ts'
import { ownerOf } from './memory-owner.ts'
import { givenFacts, writtenPlace } from './memory-use-cases.ts'
import type { OpenMemory } from './open-memory.ts'
import { exchangeInput } from './writes/exchange-input.ts'
import type { MemoryWrites, WriteReceipt } from './writes/memory-writes.ts'
import { requestIdOf, writeIdOf } from './writes/receipt-id.ts'

export interface RememberParts {
  readonly memory: OpenMemory
  readonly writes: MemoryWrites
  readonly newWriteId: (prefix: string) => string
  readonly byRules: ExtractByRules
}

type RememberOps = 'remember' | 'receipt' | 'graph' | 'graph_remember' | 'entities'
type RememberCall = Call<unknown, unknown, BodyOf<'memory.remember'>>
type Remembered = ResultOf<'memory.remember'>

/** Use-cases that remember exchanges, read their receipts, and read the graph of their facts. */
export const rememberUseCases = (parts: RememberParts): Pick<UseCases, `memory.${RememberOps}`> => {
  const { memory, writes } = parts
  return {
    'memory.remember': (call) => remembered(parts, call, 'remember'),
    'memory.graph_remember': (call) => remembered(parts, call, 'graph'),
    'memory.receipt': async ({ scope, params }) => {
      const id = orNotFound(writeIdOf(params.request_id))
      const receipt = await writes.receipt(scope, id)
      return { request_id: requestIdOf(id), ...shown(receipt), attempts: receipt.context.attempts }
    },
    'memory.graph': async ({ scope, query }) => {
      const { entity, hops } = query
      if (entity === undefined)
        throw new ServiceError('invalid_query', { param: 'entity', message: 'entity is required.' })
      const { graph } = await graphIn(await memory.indexes.open(ownerOf(scope, query)))
      return graph.traverse(entity, hops)
    },
    'memory.entities': async ({ scope, query }) => {
      const { graph, sources } = await graphIn(await memory.indexes.open(ownerOf(scope, query)))
      const counts = new Map<string, number>()
      for (const { subject, object } of sources.keys())
        for (const name of [subject, object]) counts.set(name, (counts.get(name) ?? 0) + 1)
      const entities = graph.entities().map((name) => ({ name, relations: counts.get(name) ?? 1 }))
      return { entities: entities.slice(0, query.limit) }
    },
  }
}

const remembered = async (
  { memory, writes, newWriteId, byRules }: RememberParts,
  call: RememberCall,
  source: string,
): Promise<Remembered> => {
  const { body, scope } = call
  const owner = ownerOf(scope, { userId: body.userId })
  const place = writtenPlace(body)
  const at = instantOf('observed_at', body.observed_at) ?? memory.now()
  const facts = body.facts === undefined ? undefined : givenFacts(body.facts, { text: '', at }).map(withStatement)
  const { model, prompt, minImportance } = body.extract ?? {}
  if (body.dry_run === true) {
    const { user, assistant } = body
    const all = facts ?? (await byRules({ user, assistant, observedAt: at }))
    const found = all.filter(({ ended }) => !ended)
    return {
      ...free,
      request_id: null,
      status: 'success',
      extracted: found.length,
      written: 0,
      facts: found.map(shownFact),
    }
  }
  await memory.limits.operation(owner, 'writes')
  await memory.limits.storing(owner.project, 1, async () => {})
  const id = newIdFor(call, memoryWriteDefinition.idPrefix, newWriteId)
  const { user, assistant, importance, metadata } = body
  const models = modelLimitOf(call.principal)
  const guardrails = guardrailNames(callerOf(call))
  const given = {
    user,
    assistant,
    place,
    at,
    importance,
    metadata,
    facts,
    model,
    models,
    guardrails,
    prompt,
    minImportance,
  }
  await writes.start(owner, { id, exchange: exchangeInput(given), source, cause: call.idempotency?.cause ?? id })
  const receipt = body.wait ? await writes.settled(scope, id) : await writes.receipt(scope, id)
  return { request_id: requestIdOf(id), ...shown(receipt) }
}

const free = { costUsd: 0, model: null, provider: null }

/** Gives a fact from a request its own sentence, which becomes the content of its memory. */
const withStatement = (fact: FactData): FactData => ({
  ...fact,
  text: `${fact.subject} ${fact.relation.replaceAll('_', ' ')} ${fact.object}`,
})

const shownFact = ({ subject, relation, object, single, valid_from_ms }: FactData) => ({
  ...{ subject, relation, object, single },
  valid_from: timestampOf(valid_from_ms),
})

const shown = ({ status, context }: WriteReceipt): Omit<Remembered, 'request_id'> => ({
  status,
  ...(context.extracted !== null && { extracted: context.extracted }),
  ...(status === 'success' && {
    written: context.memories.filter(({ duplicate }) => !duplicate).length,
    memories: context.memories.map(({ id, duplicate }) => ({ id, ...(duplicate && { duplicate: true as const }) })),
  }),
  ...(isExtractor(context.extractor) && { extractor: context.extractor }),
  ...(context.error !== null && { error: context.error }),
  ...{ costUsd: context.cost_usd, model: context.model, provider: context.provider },
})

const isExtractor = (text: string | null): text is 'given' | 'rules' | 'model' =>
  text === 'given' || text === 'rules' || text === 'model'
