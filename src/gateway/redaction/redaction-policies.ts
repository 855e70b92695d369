import type { ProjectDirectory } from '#actors/accounts/project-directory.ts'
import { ProjectSetting, type SettingDeclaration } from '#actors/capability/project-setting.ts'
import type { Services } from '#actors/capability/services.ts'
import { RecheckCache } from '#records/caches/recheck-cache.ts'
import { defaultTypes, type RedactionTarget, redactionTargets } from '#specs/resources/gateway/redaction.ts'
import type { Redaction, RedactionPolicy } from '../call/redaction.ts'
import type { CachePolicy, CallPolicies } from '../call/reuse.ts'
import { type RedactionPolicyData, redactionPolicies } from './kinds.ts'
import { redactForLog } from './log-redaction.ts'
import { policyBy } from './redaction-policy.ts'

/** Default policy of projects created before redaction was on by default. */
export const earlierPolicy: RedactionPolicyData = {
  enabled: false,
  types: defaultTypes,
  apply_to: redactionTargets,
  targets_apart: true,
  restore: true,
  phone_region: 'US',
}

/** Default policy of projects: redacts only where the response can be restored. */
const defaultPolicy: RedactionPolicyData = {
  ...earlierPolicy,
  enabled: true,
  apply_to: ['input', 'tool_arguments', 'logs'],
}

/** How long, in ms, another node may still use a policy after it was changed; the same as for credentials. */
const recheckMs = 1000

const maxCached = 10_000

const noPolicies: CallPolicies = { redaction: null, cache: null }

interface RedactionParts extends Pick<Services, 'now' | 'records'> {
  readonly projects: Pick<ProjectDirectory, 'settings'>
  /** Reads the other policies of calls, so that a call looks them up together; absent: there are none. */
  readonly cachePolicyOf?: (project: string) => Promise<CachePolicy | null>
}

/** Stores and caches the redaction policies of projects. */
export class RedactionPolicies implements Redaction {
  readonly setting: ProjectSetting<RedactionPolicyData>
  readonly #cache: RecheckCache<CallPolicies>

  constructor({ records, projects, cachePolicyOf = async () => null, now }: RedactionParts) {
    this.setting = new ProjectSetting({ records, now }, declaration, async (project) =>
      (await projects.settings(project))?.redactsByDefault === true ? defaultPolicy : earlierPolicy,
    )
    this.#cache = new RecheckCache({
      load: async (project) => {
        const [{ data }, cache] = await Promise.all([this.setting.read(project), cachePolicyOf(project)])
        return { redaction: policyOf(data), cache }
      },
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
      now,
    })
  }

  policyOf(project: string): RedactionPolicy | null | Promise<RedactionPolicy | null> {
    const found = this.of(project)
    return found instanceof Promise ? found.then(({ redaction }) => redaction) : found.redaction
  }

  /** Returns all that applies to the calls of a project; synchronously for a project in steady use. */
  of(project: string): CallPolicies | Promise<CallPolicies> {
    return this.#cache.peek(project) ?? this.#cache.load(project).then((loaded) => loaded ?? noPolicies)
  }

  /** Applies a changed policy of a project at once on this node. */
  changed(project: string): void {
    this.#cache.forget(project)
  }

  forLog(body: string): string {
    return redactForLog(body)
  }
}

/** Upgrades a row of an earlier version, in which `input` also covered embeddings and speech. */
const whole = (data: RedactionPolicyData): RedactionPolicyData => {
  const { targets_apart, apply_to } = data
  if (targets_apart === true) return data
  const named = (target: RedactionTarget) => apply_to.includes(target === 'logs' ? target : sourceOf(target))
  return { ...data, apply_to: redactionTargets.filter(named), targets_apart: true }
}

const sourceOf = (target: RedactionTarget): RedactionTarget =>
  target === 'embeddings' || target === 'speech' ? 'input' : target

const policyOf = ({ enabled, types, apply_to, restore, phone_region }: RedactionPolicyData): RedactionPolicy | null => {
  const input = apply_to.includes('input')
  const toolArguments = apply_to.includes('tool_arguments')
  const embeddings = apply_to.includes('embeddings')
  const speech = apply_to.includes('speech')
  if (!enabled || types.length === 0 || !(input || toolArguments || embeddings || speech)) return null
  return policyBy({ types, input, toolArguments, embeddings, speech, restore, region: phone_region })
}

const declaration: SettingDeclaration<RedactionPolicyData> = {
  ...{ name: 'redaction_policy', kind: redactionPolicies, idPrefix: 'rdp' },
  ...{ defaults: defaultPolicy, upgraded: whole },
}
