import { ServiceError } from '#specs/errors/errors.ts'
import type { ResultOf } from '#specs/index.ts'
import type { UseCases } from '../call/use-cases.ts'
import { actorOf } from '../records/audit-note.ts'
import type { Compaction } from '../runtime/log/compaction.ts'
import type { UpkeepSwitch } from '../runtime/log/upkeep-switch.ts'

/** The housekeeping of an installation, and what pauses it. */
export interface Upkeep {
  readonly upkeep: UpkeepSwitch
  readonly compaction: Pick<Compaction, 'state'>
}

type UpkeepUseCases = Pick<UseCases, Extract<keyof UseCases, `upkeep.${string}`>>

const task = 'compaction'

/** What operators see of housekeeping, and how they pause it. */
export const upkeepUseCases = (of: () => Upkeep): UpkeepUseCases => ({
  'upkeep.list': async () => ({ data: [await shown(of())] }),
  'upkeep.pause': async ({ params, ...call }) => {
    await of().upkeep.pause(known(params.task_id), actorOf(call).id ?? 'unknown')
    return shown(of())
  },
  'upkeep.resume': async ({ params }) => {
    await of().upkeep.resume(known(params.task_id))
    return shown(of())
  },
})

const known = (id: string): string => {
  if (id !== task) throw new ServiceError('not_found', { param: 'task_id' })
  return id
}

const shown = async ({ upkeep, compaction }: Upkeep): Promise<ResultOf<'upkeep.list'>['data'][number]> => {
  const [paused, { waiting, oldestAt, merged, removed }] = await Promise.all([upkeep.paused(task), compaction.state()])
  return {
    id: task,
    paused: paused !== null,
    paused_by: paused?.by ?? null,
    paused_at: timeOf(paused?.at ?? null),
    waiting,
    oldest_at: timeOf(oldestAt),
    merged,
    removed,
  }
}

const timeOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
