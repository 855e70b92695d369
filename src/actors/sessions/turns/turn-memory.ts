import type { MemoryAt, MemoryService, Recall } from '#actors/capability/memory-service.ts'
import type { ModelMessage } from '#gateway/call/provider-port.ts'
import type { AnswerMemory } from '#machines/session/session-data.ts'
import type { Owner } from '#runtime/step/actor-state.ts'
import type { TurnMemory } from './turn-config.ts'

/** A turn or run that uses memory. */
export interface RememberingTurn {
  readonly memory: TurnMemory | undefined
  readonly owner: Owner
  /** The session's or run's id, which memories of scope `session` belong to. */
  readonly actor: string
  readonly messages: readonly ModelMessage[]
  /** Key of the effect: what is written follows from it. */
  readonly cause: string
  readonly source: 'session' | 'run'
  /** ms since the epoch. */
  readonly now: number
}

/** What memory gives to a model call, and takes from its answer. */
export interface RecalledTurn {
  /** System message; '' for none. */
  readonly text: string
  /** What the answer's event says of memory. Pure: the write goes with the answer's commit. */
  remembered(answer: string): AnswerMemory
}

/** Recalls for a model call; null where no memory is used, also for an actor without a user. It fails open. */
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
  const said = messages.findLast(({ role }) => role === 'user')?.content ?? ''
  const opened = service()
  const recall = memory.retrieve === false || said === '' ? nothing : await recalled(opened, at, { memory, said })
  const retrieved = recall.hits.map((hit) => ({ ...hit }))
  return {
    text: recall.text,
    remembered: (answer) => {
      const skipped = { retrieved, written: [], write_status: 'skipped', write_request_id: null }
      if (memory.write === false || said === '' || answer === '') return { message: null, block: skipped }
      const { to, event, requestId } = opened.writeback(at, {
        ...{ cause: turn.cause, user: said, assistant: answer, at: turn.now, source: turn.source },
        recalled: recall.hits.map(({ content }) => content),
        ...(memory.extract !== undefined && { extract: memory.extract }),
      })
      return { message: { to, event }, block: { ...skipped, write_status: 'pending', write_request_id: requestId } }
    },
  }
}

const nothing: Recall = { hits: [], text: '', costUsd: 0 }

const recalled = (
  service: MemoryService,
  at: MemoryAt,
  { memory, said }: { readonly memory: TurnMemory; readonly said: string },
): Promise<Recall> => {
  const { topK, threshold, graph, mode, asOf } = memory
  const instant = asOf === undefined ? Number.NaN : Date.parse(asOf)
  return service.recall(
    { ...at, scope: null },
    { query: said, topK, threshold, graph, mode, ...(Number.isFinite(instant) && { asOf: instant }) },
  )
}
