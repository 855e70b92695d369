import type { MemoryService } from '#actors/capability/memory-service.ts'
import { citationsIn } from '#gateway/apis/responses/citations.ts'
import { type ActorCaller, actorCaller } from '#gateway/call/caller.ts'
import type { ModelRequest } from '#gateway/call/provider-port.ts'
import type { MeteredCall } from '#gateway/turns/metered.ts'
import { type Clock, type EffectContext, isObject } from '#runtime/index.ts'
import type { JsonObject } from '#storage/index.ts'
import type { Conversations } from '../conversations.ts'
import { requestOf } from './request-of.ts'
import type { TurnConfig, TurnConfigs } from './turn-config.ts'
import { type RecalledTurn, recallFor } from './turn-memory.ts'
import { lengthBefore, numberedSources, type WebSource } from './web-sources.ts'

/** Dependencies of `prepare`. */
export interface PreparedParts {
  readonly conversations: Conversations
  readonly configs: TurnConfigs
  /** Memory of end users; called when a turn uses it. */
  readonly memory: () => MemoryService
  readonly clock: Clock
}

/** The parts of an actor's context from which a model call is made. */
export interface ModelCallRequest {
  readonly model: string
  readonly config: JsonObject
  /** Number of model calls of the turn or run so far, including this one. */
  readonly steps: number
  /** Number of the turn in its session; absent for a run. */
  readonly turn?: number
  readonly whose: Whose
}

/** The operation, agent, session or run to which the usage of the call is attributed. */
export type Whose = Pick<MeteredCall, 'operation' | 'agentId' | 'installationId' | 'ratePlanId' | 'sessionId' | 'runId'>

/** A model call with all that it takes from the log, the config and memory. */
export interface Prepared {
  readonly request: ModelRequest
  readonly caller: ActorCaller
  readonly config: TurnConfig
  /** Null where no memory is used. */
  readonly recalled: RecalledTurn | null
  /** Returns the annotations of the pages that an answer cites, by their offsets in the text of the turn. */
  readonly cited: (answer: string) => readonly JsonObject[]
}

/**
 * Reads what a model call takes: the config, the conversation, and the memory of its user, which is recalled once.
 *
 * @throws {ServiceError} when its config or memory cannot be used, {StoreUnavailable}.
 */
export const prepare = async (
  parts: PreparedParts,
  requested: ModelCallRequest,
  { actor, owner, idempotencyKey }: EffectContext,
): Promise<Prepared> => {
  const kept = parts.configs.read(owner.project, requested.config)
  const config = kept instanceof Promise ? await kept : kept
  const conversation = await parts.conversations.of(actor, owner, requested.turn === 1)
  const common = conversation.forModel()
  const { messages, sources } = numberedSources(common)
  const source = requested.whose.operation === 'run' ? 'run' : 'session'
  const recalled =
    config.memory === undefined
      ? null
      : await recallFor(parts.memory, {
          ...{ memory: config.memory, owner, actor, messages, source, cause: idempotencyKey, now: parts.clock.now() },
          models: config.models,
          guardrails: config.guardrails,
        })
  const text = recalled?.text ?? ''
  const instructions = text === '' ? config.instructions : [...config.instructions, text]
  const request = { ...requestOf({ ...config, instructions }, requested, messages), idempotencyKey }
  return {
    request,
    caller: {
      ...actorCaller(owner, requested.whose.agentId),
      actor,
      guardrails: config.guardrails,
      ...(config.models !== undefined && { models: new Set(config.models) }),
    },
    config,
    recalled,
    // The text of a turn joins all its answers; the output of a run is its last answer only.
    cited: (answer) => annotationsOf(answer, sources, source === 'run' ? 0 : lengthBefore(common, requested.steps - 1)),
  }
}

/** The pages cited in an answer, as annotations of a text in which `before` characters precede the answer. */
const annotationsOf = (answer: string, sources: readonly WebSource[], before: number | null): readonly JsonObject[] => {
  if (before === null) return []
  return citationsIn(answer, sources).flatMap(({ type, url_citation }): readonly JsonObject[] => {
    if (!isObject(url_citation)) return []
    const { start_index, end_index, url = '', title = '' } = url_citation
    const [from, to] = [Number(start_index) + before, Number(end_index) + before]
    return [{ type: String(type), start_index: from, end_index: to, url, title }]
  })
}
