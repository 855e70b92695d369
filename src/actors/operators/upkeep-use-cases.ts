import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import { actorOf } from '../records/audit-note.ts'
import type { CompactionState, UpkeepSwitch } from '../runtime/internal.ts'

/** The housekeeping tasks of an installation, and the switch that pauses them. */
export interface Upkeep {
  readonly upkeep: UpkeepSwitch
  /** Returns the progress of each task, by its name; capabilities add their own tasks. */
  readonly tasks: Map<Task['id'], () => Promise<CompactionState>>
}

type UpkeepUseCases = UseCasesOf<'upkeep'>
type Task = ResultOf<'upkeep.list'>['data'][number]

/** Use-cases of housekeeping: operators list tasks, and pause and resume them. */
export const upkeepUseCases = (of: () => Upkeep): UpkeepUseCases => ({
  'upkeep.list': async () => ({ data: await Promise.all([...of().tasks.keys()].map((id) => shown(of(), id))) }),
  'upkeep.pause': async ({ params, ...call }) => {
    const id = known(of(), params.task_id)
    await of().upkeep.pause(id, actorOf(call).id ?? 'unknown')
    return shown(of(), id)
  },
  'upkeep.resume': async ({ params }) => {
    const id = known(of(), params.task_id)
    await of().upkeep.resume(id)
    return shown(of(), id)
  },
})

const known = ({ tasks }: Upkeep, id: string): Task['id'] => {
  for (const task of tasks.keys()) if (task === id) return task
  throw new ServiceError('not_found', { param: 'task_id' })
}

const shown = async ({ upkeep, tasks }: Upkeep, id: Task['id']): Promise<Task> => {
  const [paused, state] = await Promise.all([upkeep.paused(id), tasks.get(id)?.()])
  return {
    id,
    paused: paused !== null,
    paused_by: paused?.by ?? null,
    paused_at: timeOf(paused?.at ?? null),
    waiting: state?.waiting ?? 0,
    oldest_at: timeOf(state?.oldestAt ?? null),
    merged: state?.merged ?? 0,
    removed: state?.removed ?? 0,
  }
}

const timeOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
