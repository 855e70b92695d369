import { dashboardOnly } from '../access.ts'
import { answersJson } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { array, boolean, described, integer, nullable, object, oneOf, string, timestamp } from '../dsl/schema.ts'

const task = object(
  {
    id: described(
      oneOf('compaction', 'retention'),
      'The task. `compaction` puts the deltas of ended turns together, `retention` deletes what projects keep no longer.',
    ),
    paused: boolean(),
    paused_by: nullable(string({ description: 'Id of the member who paused it.' })),
    paused_at: nullable(timestamp()),
    waiting: integer({
      description: 'Lists of ended streams that wait, of all nodes. Each has what ended within a second.',
    }),
    oldest_at: described(nullable(timestamp()), 'When the oldest of them was written. Streams wait for two minutes.'),
    merged: integer({ description: 'Streams put together by this node since its start.' }),
    removed: integer({
      description:
        'Commits (`compaction`), or sessions, runs and actions (`retention`), removed by this node since its start.',
    }),
  },
  { title: 'UpkeepTask', description: 'Housekeeping of the installation.' },
)

const path = '/api/upkeep/{task_id}'

/** Housekeeping of the installation, which its operators see and pause. */
export const upkeep = defineOperations('upkeep', {
  list: {
    summary: 'List the housekeeping of the installation',
    description: 'Returns what waits for each task, and whether it is paused.',
    method: 'GET',
    path: '/api/upkeep',
    access: dashboardOnly('admin'),
    answer: answersJson(object({ data: array(task) })),
  },
  pause: {
    summary: 'Pause housekeeping',
    description:
      'Takes effect on all nodes within seconds and survives restarts, until housekeeping is resumed. Nothing that waits is lost.',
    method: 'POST',
    path: `${path}/pause`,
    access: dashboardOnly('owner'),
    answer: answersJson(task),
  },
  resume: {
    summary: 'Resume housekeeping',
    description: 'Takes effect on all nodes within seconds.',
    method: 'POST',
    path: `${path}/resume`,
    access: dashboardOnly('owner'),
    answer: answersJson(task),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly upkeep: typeof upkeep
  }
}
