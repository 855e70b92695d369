import { ProjectSetting, settingUseCases } from '#actors/capability/project-setting.ts'
import type { Services } from '#actors/capability/services.ts'
import { defaultJudge, defaultThreshold } from '#specs/resources/gateway/cache-policy.ts'
import type { CachePolicy } from '../call/reuse.ts'
import { LogSettings } from '../ledger/log-settings.ts'
import { type CachePolicyData, cachePolicies } from './kinds.ts'

type Parts = Pick<Services, 'records' | 'now'>

const setting = (parts: Parts) =>
  new ProjectSetting<CachePolicyData>(parts, {
    name: 'cache_policy',
    kind: cachePolicies,
    idPrefix: 'chp',
    defaults: { mode: 'off', ttl_s: 3_600, threshold: defaultThreshold, any_temperature: false, ...defaultJudge },
    upgraded: (data) => ({ ...defaultJudge, ...data }),
  })

const dayMs = 24 * 60 * 60_000

/** Reads the cache policy in effect. */
export const cachePolicyReader = (parts: Parts) => {
  const policies = setting(parts)
  const log = new LogSettings(parts.records, parts.now)
  /** Returns null for a project that stores no answers; no text is kept for longer than in the request log. */
  return async (project: string): Promise<CachePolicy | null> => {
    const row = await policies.row(project)
    if (row === null || row.data.mode === 'off') return null
    const { mode: bodies, retention_days } = await log.read(project)
    if (bodies !== 'bodies') return null
    const { mode, ttl_s, threshold, any_temperature: anyTemperature } = row.data
    const ttlMs = Math.min(ttl_s * 1000, retention_days * dayMs)
    return { mode, ttlMs, threshold, anyTemperature, judge: judgeOf(row.data) }
  }
}

const judgeOf = ({ judge_model: model, judge_threshold: threshold, judge_timeout_ms: timeoutMs }: CachePolicyData) =>
  model === null ? null : { model, threshold, timeoutMs }

/** ms after which no node stores answers by an earlier policy. */
const settledMs = 2_000

interface StopParts extends Pick<Services, 'answers' | 'clock'> {
  /** Called with a project whose policy has changed. */
  readonly changed: (project: string) => void
}

/** Applies the policy of a project, or the settings of its log, that were changed. */
export const cacheSwitch = ({ answers, clock, changed }: StopParts) => ({
  /** @param stores whether answers may be stored from now on; if not, those that are stored are deleted. */
  apply: async (project: string, stores: boolean): Promise<void> => {
    changed(project)
    if (stores) return
    await answers.forget(project)
    // another node may have stored one since
    clock.after(settledMs, () => void answers.forget(project))
  },
})

/** Use-cases that read and change which answers a project reuses. */
export const cachePolicyUseCases = (parts: Parts & { readonly answers: ReturnType<typeof cacheSwitch> }) =>
  settingUseCases('cache_policy', setting(parts), {
    changed: (project, { mode }) => parts.answers.apply(project, mode !== 'off'),
  })
