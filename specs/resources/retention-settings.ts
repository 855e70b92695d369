import { secretKeyOrDashboard } from '../access.ts'
import { isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { defaulted, described, integer, nullable, object, timestamp } from '../dsl/schema.ts'

const days = (what: string) =>
  described(
    defaulted(nullable(integer({ min: 1, max: 3650 })), null),
    `Days after their last change for which ${what} are kept. Null keeps them indefinitely.`,
  )

const kept = {
  sessions_days: days('sessions, with their events and actions,'),
  runs_days: days('runs, with their events and actions,'),
  actions_days: days('standalone actions, which belong to no session or run,'),
}

const settings = object(
  {
    ...kept,
    applied_at: described(nullable(timestamp()), 'Time of the last deletion that these settings caused; null if none.'),
  },
  { title: 'RetentionSettings', description: 'Retention of sessions, runs and actions.' },
)

/** Retention of a project's sessions, runs and actions. */
export const retentionSettings = defineOperations('retention_settings', {
  get: {
    summary: 'Retrieve the retention settings of the project',
    description: 'By default, everything is kept indefinitely. The request log has its own settings.',
    method: 'GET',
    path: '/v1/retention-settings',
    access: secretKeyOrDashboard('member'),
    answer: isJsonResponse(settings),
  },
  put: {
    summary: 'Update the retention settings of the project',
    description:
      'Older resources are permanently deleted within the hour, each with an entry in the audit log. Usage is kept.',
    method: 'PUT',
    path: '/v1/retention-settings',
    access: secretKeyOrDashboard('owner'),
    body: object(kept),
    errors: ['version_conflict'],
    answer: isJsonResponse(settings),
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly retentionSettings: typeof retentionSettings
  }
}
