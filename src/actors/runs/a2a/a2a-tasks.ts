import { hash } from 'node:crypto'
import type { Call } from '#actors/call/call.ts'
import type { TypedKind } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { derivedId } from '#runtime/index.ts'
import type { Host } from '#runtime/internal.ts'
import type { RecordStore } from '#storage/index.ts'

/** The run that a message began, and the context that its sender chose. */
export const a2aTasks: TypedKind<{ readonly run_id: string; readonly context_id: string }> = {
  name: 'a2a_tasks',
  exported: null,
  filters: [
    { fields: ['run_id'], narrow: true },
    { fields: ['context_id'], narrow: true },
  ],
}

/** Messages are recognised, and contexts known, for 30 days. */
const keptMs = 30 * 24 * 60 * 60 * 1000

type Scoped = Pick<Call<unknown, unknown, unknown>, 'scope'>

/** Records of the tasks that messages began. */
export class A2aTasks {
  readonly #table: Table<{ readonly run_id: string; readonly context_id: string }>
  readonly #host: Pick<Host, 'newActorId'>
  readonly #now: () => number

  constructor(records: RecordStore, host: Pick<Host, 'newActorId'>, now: () => number) {
    this.#table = new Table(records, a2aTasks, now)
    this.#host = host
    this.#now = now
  }

  /** Returns the id of the run that a message begins, which is the same for the message whenever it is sent. */
  async begun(
    { scope }: Scoped,
    {
      agentId,
      messageId,
      contextId,
    }: { readonly agentId: string; readonly messageId: string; readonly contextId: string | null },
  ): Promise<string> {
    const { project, tenant, user } = scope
    const id = derivedId('a2a', 0, hash('sha256', JSON.stringify([project, tenant, user, agentId, messageId])))
    const before = await this.#table.get(scope, id)
    if (before !== null) return before.data.run_id
    const run_id = this.#host.newActorId('run')
    const data = { run_id, context_id: contextId ?? contextOf(run_id) }
    const expiresAtMs = this.#now() + keptMs
    const kept = await this.#table.insert({ id, project, tenant, user, data, expiresAtMs })
    return (kept ?? (await this.#table.get(scope, id)))?.data.run_id ?? run_id
  }

  /** Removes the record of a message whose run was refused: the same message is tried anew. */
  async refused({ scope }: Scoped, run: string): Promise<void> {
    for (const { id } of await this.#table.list(scope, { where: { run_id: run }, limit: 1 }))
      await this.#table.remove(scope, id)
  }

  /** The context of a run's task. */
  async contextOf({ scope }: Scoped, run: string): Promise<string> {
    const [row] = await this.#table.list(scope, { where: { run_id: run }, limit: 1 })
    return row?.data.context_id ?? contextOf(run)
  }

  /** The newest runs of a context. */
  async runsOf({ scope }: Scoped, context: string, limit: number): Promise<readonly string[]> {
    const own = context.startsWith('ctx_') ? [`run_${context.slice('ctx_'.length)}`] : []
    const rows = await this.#table.list(scope, { where: { context_id: context }, limit })
    return [...new Set([...rows.map(({ data }) => data.run_id), ...own])].slice(0, limit)
  }
}

/** The context of a task whose sender chose none. */
const contextOf = (run: string): string => `ctx_${run.slice('run_'.length)}`
