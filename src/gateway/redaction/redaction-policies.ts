import type { ProjectDirectory } from '#actors/accounts/project-directory.ts'
import type { Services } from '#actors/capability/services.ts'
import { RecheckCache } from '#records/recheck-cache.ts'
import type { Row } from '#records/schema.ts'
import { type NoticesOf, Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { defaultTypes, type RedactionTarget, redactionTargets } from '#specs/resources/gateway/redaction.ts'
import { projectScope } from '#storage/index.ts'
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

/** The policy in effect for a project, and the row it was read from. */
export interface ChosenPolicy {
  readonly row: Row<RedactionPolicyData> | null
  readonly policy: RedactionPolicyData
}

const noPolicies: CallPolicies = { redaction: null, cache: null }

interface RedactionParts extends Pick<Services, 'now' | 'records'> {
  readonly projects: Pick<ProjectDirectory, 'settings'>
  /** Reads the other policies of calls, so that a call looks them up together; absent: there are none. */
  readonly cachePolicyOf?: (project: string) => Promise<CachePolicy | null>
}

/** Stores and caches the redaction policies of projects. */
export class RedactionPolicies implements Redaction {
  readonly #table: Table<RedactionPolicyData>
  readonly #cache: RecheckCache<CallPolicies>

  readonly #projects: Pick<ProjectDirectory, 'settings'>

  constructor({ records, projects, cachePolicyOf = async () => null, now }: RedactionParts) {
    this.#projects = projects
    this.#table = new Table(records, redactionPolicies, now)
    this.#cache = new RecheckCache({
      load: async (project) => {
        const [{ policy }, cache] = await Promise.all([this.chosen(project), cachePolicyOf(project)])
        return { redaction: policyOf(policy), cache }
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

  /** Returns the policy in effect for a project. `row` is null for a project that never changed its policy. */
  async chosen(project: string): Promise<ChosenPolicy> {
    const row = await this.#table.get(projectScope(project), idOf(project))
    return { row, policy: row === null ? await this.#default(project) : whole(row.data) }
  }

  async #default(project: string): Promise<RedactionPolicyData> {
    return (await this.#projects.settings(project))?.redactsByDefault === true ? defaultPolicy : earlierPolicy
  }

  /** Changes a project's policy; this node applies the change at once. @throws {ServiceError} `version_conflict` */
  async change(
    project: string,
    edit: (data: RedactionPolicyData) => RedactionPolicyData,
    notices: NoticesOf<RedactionPolicyData>,
  ): Promise<Row<RedactionPolicyData>> {
    const scope = projectScope(project)
    const id = idOf(project)
    await this.#table.insert({ id, project, data: await this.#default(project) })
    const changed = await this.#table.change(scope, id, { edit: ({ data }) => edit(whole(data)), notices })
    this.changed(project)
    if (changed === null) throw new ServiceError('version_conflict')
    return changed
  }
}

const idOf = (project: string): string => `rdp_${project.slice(project.indexOf('_') + 1)}`

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
