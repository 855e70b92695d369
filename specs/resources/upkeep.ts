import { dashboardOnly } from '../access.ts'
import { isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { array, boolean, described, integer, nullable, object, oneOf, string, timestamp } from '../dsl/schema.ts'

const task = object(
  {
    id: described(
      oneOf('compaction', 'retention'),
      'Name of the task. `compaction` merges the deltas of ended turns; `retention` deletes data whose retention period has ended.',
    ),
    paused: boolean(),
    paused_by: nullable(string({ description: 'Id of the member who paused it.' })),
    paused_at: nullable(timestamp()),
    waiting: integer({
      description:
        'Number of batches of ended streams in the backlog, over all nodes. A batch contains the streams that ended within the same second.',
    }),
    oldest_at: described(
      nullable(timestamp()),
      'Time at which the oldest batch was written. Streams are checked two minutes after they end.',
    ),
    merged: integer({ description: 'Number of streams that this node has merged since it started.' }),
    removed: integer({
      description:
        'Number of commits (`compaction`), or of sessions, runs and actions (`retention`), that this node has deleted since it started.',
    }),
  },
  { title: 'UpkeepTask', description: 'A housekeeping task of the installation.' },
)

const path = '/api/upkeep/{task_id}'

/** Housekeeping tasks of the installation, which operators can see and pause. */
export const upkeep = defineOperations('upkeep', {
  list: {
    summary: 'List the housekeeping of the installation',
    description: 'Returns the backlog of each task, and whether the task is paused.',
    method: 'GET',
    path: '/api/upkeep',
    access: dashboardOnly('admin'),
    answer: isJsonResponse(object({ data: array(task) })),
  },
  pause: {
    summary: 'Pause housekeeping',
    description:
      'Takes effect on all nodes within seconds and persists across restarts until the task is resumed. The backlog is kept.',
    method: 'POST',
    path: `${path}/pause`,
    access: dashboardOnly('owner'),
    answer: isJsonResponse(task),
  },
  resume: {
    summary: 'Resume housekeeping',
    description: 'Takes effect on all nodes within seconds.',
    method: 'POST',
    path: `${path}/resume`,
    access: dashboardOnly('owner'),
    answer: isJsonResponse(task),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly upkeep: typeof upkeep
  }
}
