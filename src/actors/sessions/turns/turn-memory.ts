import type { MemoryAt, MemoryService, Recall } from '#actors/capability/memory-service.ts'
import type { ModelMessage } from '#gateway/call/provider-port.ts'
import type { AnswerMemory } from '#machines/session/session-data.ts'
import type { Owner } from '#runtime/index.ts'
import type { TurnMemory } from './turn-config.ts'

/** A model call of a turn or run, with its memory settings. */
export interface RememberingTurn {
  readonly memory: TurnMemory | undefined
  readonly owner: Owner
  /** Id of the session or run, to which memories of scope `session` belong. */
  readonly actor: string
  readonly messages: readonly ModelMessage[]
  /** Key of the effect, from which the ids of the written memories are derived. */
  readonly cause: string
  readonly source: 'session' | 'run'
  /** The only models that may extract facts from the answer; undefined: any. */
  readonly models: readonly string[] | undefined
  /** Guardrails of the turn, in addition to those of the project. */
  readonly guardrails: readonly string[] | undefined
  /** ms since the epoch. */
  readonly now: number
}

/** Memories recalled for a model call, and the write that follows its answer. */
export interface RecalledTurn {
  /** System message with the memories; '' for none. */
  readonly text: string
  /** Returns the memory part of the answer's event. Pure: the write is committed with the answer. */
  remembered(answer: string): AnswerMemory
}

/** Recalls memories for a model call; null where memory is not used or the actor has no user. It fails open. */
export const recallFor = async (service: () => MemoryService, turn: RememberingTurn): Promise<RecalledTurn | null> => {
  const { memory, owner, actor, messages } = turn
  if (memory === undefined || owner.user === null) return null
  const { scope = 'user', namespace = null } = memory
  const at: MemoryAt = {
    project: owner.project,
    tenant: owner.tenant,
    user: owner.user,
    scope,
    session: actor,
    namespace,
  }
  const input = messages.findLast(({ role }) => role === 'user')?.content ?? ''
  const opened = service()
  const recall = memory.retrieve === false || input === '' ? nothing : await recalled(opened, at, { memory, input })
  const retrieved = recall.hits.map((hit) => ({ ...hit }))
  return {
    text: recall.text,
    remembered: (answer) => {
      const skipped = { retrieved, written: [], write_status: 'skipped', write_request_id: null }
      if (memory.write === false || input === '' || answer === '') return { message: null, block: skipped }
      const { to, event, requestId } = opened.writeback(at, {
        ...{ cause: turn.cause, user: input, assistant: answer, at: turn.now, source: turn.source },
        recalled: recall.hits.map(({ content }) => content),
        extract: { ...memory.extract, models: turn.models, guardrails: turn.guardrails },
      })
      return { message: { to, event }, block: { ...skipped, write_status: 'pending', write_request_id: requestId } }
    },
  }
}

const nothing: Recall = { hits: [], text: '', costUsd: 0 }

const recalled = (
  service: MemoryService,
  at: MemoryAt,
  { memory, input }: { readonly memory: TurnMemory; readonly input: string },
): Promise<Recall> => {
  const { topK, threshold, graph, mode, asOf } = memory
  const instant = asOf === undefined ? Number.NaN : Date.parse(asOf)
  return service.recall(
    { ...at, scope: null },
    { query: input, topK, threshold, graph, mode, ...(Number.isFinite(instant) && { asOf: instant }) },
  )
}
