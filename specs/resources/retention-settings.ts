import { secretKeyOrDashboard } from '../access.ts'
import { answersJson } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { defaulted, described, integer, nullable, object, timestamp } from '../dsl/schema.ts'

const days = (what: string) =>
  described(
    defaulted(nullable(integer({ min: 1, max: 3650 })), null),
    `Days after their last change for which ${what} are kept; null for good.`,
  )

const kept = {
  sessions_days: days('sessions, with their events and actions,'),
  runs_days: days('runs, with their events,'),
  actions_days: days('actions of their own'),
}

const settings = object(
  {
    ...kept,
    applied_at: described(nullable(timestamp()), 'When something was last deleted by these settings; null for never.'),
  },
  { title: 'RetentionSettings', description: 'Retention of sessions, runs and actions.' },
)

/** How long a project keeps its sessions, runs and actions. */
export const retentionSettings = defineOperations('retention_settings', {
  get: {
    summary: 'Retrieve the retention settings of the project',
    description: 'Everything is kept for good unless set otherwise. The request log has settings of its own.',
    method: 'GET',
    path: '/v1/retention-settings',
    access: secretKeyOrDashboard('member'),
    answer: answersJson(settings),
  },
  put: {
    summary: 'Update the retention settings of the project',
    description:
      'Older resources are deleted for good within the hour, each with a line in the audit log. Usage is kept.',
    method: 'PUT',
    path: '/v1/retention-settings',
    access: secretKeyOrDashboard('owner'),
    body: object(kept),
    errors: ['version_conflict'],
    answer: answersJson(settings),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly retentionSettings: typeof retentionSettings
  }
}
