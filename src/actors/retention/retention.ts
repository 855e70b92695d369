import { timestampOf } from '#records/row-times.ts'
import { retentionSettings as operations } from '#specs/resources/retention-settings.ts'
import { capability } from '../capability/capability.ts'
import { settingUseCases } from '../capability/project-setting.ts'
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
      useCases: settingUseCases('retention_settings', settings, { view: shown }),
      close: () => rounds.stop(),
    }
  },
})

const shown = ({ project: _owner, applied_at, ...days }: RetentionData) => ({
  ...days,
  applied_at: applied_at === null ? null : timestampOf(applied_at),
})
