import { type Exchange, extractWith } from '#facts/index.ts'
import type { Charge } from '#gateway/call/accounting/charge.ts'
import { type ActorCaller, actorCaller } from '#gateway/call/caller.ts'
import { amountOf, textOf } from '#gateway/prices/money.ts'
import { metered } from '#gateway/turns/metered.ts'
import type { TurnModels } from '#gateway/turns/turn-models.ts'
import type { WrittenMemoryRef } from '#machines/memory-write/memory-write.ts'
import { memoryWriteDefinition } from '#machines/memory-write/memory-write-definition.ts'
import { contextOf, type EffectContext, type EffectOutcome, type IdempotentEffect } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { ExtractByRules } from '../extract-by-rules.ts'
import type { FactData } from '../kinds.ts'
import type { MemoryLimits } from '../memory-limits.ts'
import { factData } from '../understanding.ts'
import { failedBy } from './failed-write.ts'
import { exchangeOf, type StoredExchange } from './schema.ts'
import { type StoreParts, storedFacts } from './store-memories.ts'

export interface ExtractFactsParts extends StoreParts {
  readonly models: TurnModels
  readonly limits: Pick<MemoryLimits, 'operation'>
  /** Null: no provider has a key, so rules extract the facts instead of a model. */
  readonly defaultModel: () => string | null
  readonly byRules: ExtractByRules
}

interface Extracted {
  readonly facts: readonly FactData[]
  readonly extractor: 'given' | 'rules' | 'model'
  readonly charges: readonly Charge[]
}

/**
 * Extracts the facts of an exchange: those given by the caller, or those found by a model, or by rules when there is no
 * model. Facts that did not cost a model call are stored immediately, which saves a commit and an effect. Running again
 * after a crash costs another model call, but stores nothing twice.
 */
export const extractFacts = (parts: ExtractFactsParts): IdempotentEffect => ({
  policy: 'idempotent',
  run: async (_params, context) => {
    const write = contextOf(memoryWriteDefinition, context)
    if (write.exchange === null) return { event: { type: 'memories_stored', memories: [] } }
    try {
      const received = exchangeOf(write.exchange)
      // a request to remember was counted when it was received
      if (!byRequest.has(write.source)) await countedWrite(parts, context)
      const exchange = await checked(parts, received, context)
      const result = await extracted(parts, exchange, context)
      const isPaid = result.extractor === 'model' && result.facts.length > 0
      const memories = isPaid
        ? null
        : await storedFacts(parts, context, { exchange, facts: result.facts, source: write.source })
      return outcomeOf(result, memories)
    } catch (error) {
      if (error instanceof ServiceError && error.code !== 'cancelled') return failedBy(error)
      throw error
    }
  },
})

/** The exchange as the guardrails of its call let it pass: what they replace is not remembered. @throws {ServiceError} */
const checked = async (
  { models }: Pick<ExtractFactsParts, 'models'>,
  exchange: StoredExchange,
  { owner }: EffectContext,
): Promise<StoredExchange> => {
  const caller = callerFor(owner, exchange)
  const { facts } = exchange
  const parts = (facts ?? []).flatMap(({ subject, object, text }) => [subject, object, text])
  const [user = '', assistant = '', ...made] = await models.checked(
    [exchange.user, exchange.assistant, ...parts],
    caller,
  )
  const texts = (at: number) => ({ subject: made[at] ?? '', object: made[at + 1] ?? '', text: made[at + 2] ?? '' })
  return { ...exchange, user, assistant, facts: facts?.map((fact, at) => ({ ...fact, ...texts(3 * at) })) ?? null }
}

const callerFor = (owner: EffectContext['owner'], { guardrails }: StoredExchange): ActorCaller => ({
  ...actorCaller(owner, null),
  ...(guardrails !== undefined && { guardrails }),
})

const byRequest: ReadonlySet<string> = new Set(['remember', 'graph'])

/** @throws {ServiceError} `memory_ops_quota_exceeded` */
const countedWrite = async (
  { limits }: Pick<ExtractFactsParts, 'limits'>,
  { actor, owner: { project, tenant, user } }: EffectContext,
): Promise<void> => {
  if (user !== null) await limits.operation({ project, tenant, user }, 'writes', actor)
}

const extracted = async (
  { models, defaultModel, byRules }: ExtractFactsParts,
  stored: StoredExchange,
  { owner, signal, idempotencyKey }: EffectContext,
): Promise<Extracted> => {
  if (stored.facts !== null) return { facts: stored.facts, extractor: 'given', charges: [] }
  const { user, assistant, recalled, at_ms: observedAt } = stored
  const exchange: Exchange = { user, assistant, observedAt, recalled }
  const model = permitted(stored, stored.model ?? defaultModel())
  if (model === null) return { facts: await byRules(exchange), extractor: 'rules', charges: [] }
  const charges: Charge[] = []
  const complete: Parameters<typeof extractWith>[0] = async ({ messages, response_format, temperature }) => {
    const [instructions = '', content = ''] = messages.map((message) => message.content)
    const request = {
      ...{
        model,
        instructions: [instructions],
        messages: [{ role: 'user' as const, content }],
        tools: [],
        temperature,
      },
      ...{ more: { response_format }, idempotencyKey: `${idempotencyKey}:${charges.length}` },
    }
    const answer = await models.call(request, callerFor(owner, stored), { onDelta: () => {}, signal })
    charges.push(answer.charge)
    return answer.text
  }
  const facts = await extractWith(complete, exchange, stored.prompt ?? undefined)
  return { facts: facts.map(factData), extractor: 'model', charges }
}

/** A model that the key of the request may use; null for another one, in place of which rules extract the facts. */
const permitted = ({ models }: StoredExchange, model: string | null): string | null =>
  model === null || models === undefined || models.includes(model) ? model : null

const outcomeOf = (
  { facts, extractor, charges }: Extracted,
  memories: readonly WrittenMemoryRef[] | null,
): EffectOutcome => {
  const last = charges.at(-1)
  const event = {
    ...{ type: 'facts_extracted', facts, extractor, memories },
    ...{ model: last?.route.model ?? null, provider: last?.route.provider ?? null },
    cost_usd: charges.reduce((sum, { costUsd }) => sum + Number(costUsd ?? 0), 0),
  }
  // the stored event contains nothing from the exchange
  const kept = { type: event.type, extractor }
  if (last === undefined) return { event, stored: kept }
  const charged = metered({ ...together(charges, last), operation: 'memory', agentId: null })
  return { event, stored: { ...kept, metered: charged } }
}

/** Adds up the charges of an extraction that called the model twice. */
const together = (charges: readonly Charge[], last: Charge): Charge => {
  const [first] = charges
  if (first === undefined || first === last) return last
  const usage = {
    ...last.usage,
    inputTokens: first.usage.inputTokens + last.usage.inputTokens,
    outputTokens: first.usage.outputTokens + last.usage.outputTokens,
  }
  return { ...last, usage, costUsd: addMoney(first.costUsd, last.costUsd) }
}

const addMoney = (one: string | null, other: string | null): string | null =>
  one === null || other === null ? null : textOf(amountOf(one).plus(amountOf(other)))
