import type { ResultOf } from '#specs/index.ts'
import { retentionSettings as operations } from '#specs/resources/retention-settings.ts'
import { capability } from '../capability/capability.ts'
import { upkeepPort } from '../operators/operators.ts'
import { runRows } from '../runs/kinds.ts'
import { actionRows, sessionRows } from '../sessions/kinds.ts'
import { RetentionRounds } from './retention-rounds.ts'
import { type RetentionData, RetentionSettings, retentionKind } from './retention-settings.ts'

const kinds = { sessions_days: sessionRows, runs_days: runRows, actions_days: actionRows }

/** Capability `retention`: how long projects keep their sessions, runs and actions. */
export const retention = capability({
  name: 'retention',
  operations,
  kinds: [retentionKind],
  open: (services) => {
    const settings = new RetentionSettings(services.records, services.now)
    const { upkeep, tasks } = upkeepPort.of(services)
    const rounds = new RetentionRounds({ ...services, settings, upkeep, kinds })
    tasks.set('retention', async () => ({ waiting: 0, oldestAt: null, merged: 0, removed: rounds.deleted }))
    rounds.start()
    return {
      useCases: {
        'retention_settings.get': async ({ scope }) => shown(await settings.of(scope.project)),
        'retention_settings.put': async (call) => shown(await settings.set(call.scope.project, call.body, call)),
      },
      close: () => rounds.stop(),
    }
  },
})

const shown = (data: RetentionData | null): ResultOf<'retention_settings.get'> => ({
  sessions_days: data?.sessions_days ?? null,
  runs_days: data?.runs_days ?? null,
  actions_days: data?.actions_days ?? null,
  applied_at: data === null || data.applied_at === null ? null : new Date(data.applied_at).toISOString(),
})
