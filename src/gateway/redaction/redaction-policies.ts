import { RecheckCache } from '#records/recheck-cache.ts'
import type { Row } from '#records/schema.ts'
import { type NoticesOf, Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { piiTypes, redactionTargets } from '#specs/resources/gateway/redaction.ts'
import { projectScope } from '#specs/scope.ts'
import type { RecordStore } from '#storage/ports.ts'
import type { Redaction, RedactionPolicy } from '../call/redaction.ts'
import { type RedactionPolicyData, redactionPolicies } from './kinds.ts'
import { redactForLog } from './log-redaction.ts'
import { policyBy } from './redaction-policy.ts'

/** What a project has that never changed its policy. */
export const defaultPolicy: RedactionPolicyData = {
  enabled: false,
  types: piiTypes,
  apply_to: redactionTargets,
  restore: true,
  phone_region: 'US',
}

/** How long another node may still go by a policy that was changed, in ms; as for credentials. */
const recheckMs = 1000

const maxCached = 10_000

/** Redaction by the policies of the projects. */
export class RedactionPolicies implements Redaction {
  readonly #table: Table<RedactionPolicyData>
  readonly #cache: RecheckCache<{ readonly policy: RedactionPolicy | null }>

  constructor({ records, now }: { readonly records: RecordStore; readonly now: () => number }) {
    this.#table = new Table(records, redactionPolicies, now)
    this.#cache = new RecheckCache({
      load: async (project) => ({ policy: policyOf((await this.row(project))?.data ?? defaultPolicy) }),
      maxAgeMs: recheckMs,
      maxEntries: maxCached,
      now,
    })
  }

  policyOf(project: string): RedactionPolicy | null | Promise<RedactionPolicy | null> {
    const known = this.#cache.peek(project)
    if (known !== undefined) return known.policy
    return this.#cache.load(project).then((loaded) => loaded?.policy ?? null)
  }

  forLog(body: string): string {
    return redactForLog(body)
  }

  /** null for a project that never changed its policy. */
  row(project: string): Promise<Row<RedactionPolicyData> | null> {
    return this.#table.get(projectScope(project), idOf(project))
  }

  /** Changes a project's policy; this node goes by it at once. @throws {ServiceError} `version_conflict` */
  async change(
    project: string,
    edit: (data: RedactionPolicyData) => RedactionPolicyData,
    notices: NoticesOf<RedactionPolicyData>,
  ): Promise<Row<RedactionPolicyData>> {
    const scope = projectScope(project)
    const id = idOf(project)
    await this.#table.insert({ id, project, data: defaultPolicy })
    const changed = await this.#table.change(scope, id, { edit: ({ data }) => edit(data), notices })
    this.#cache.forget(project)
    if (changed === null) throw new ServiceError('version_conflict')
    return changed
  }
}

const idOf = (project: string): string => `rdp_${project.slice(project.indexOf('_') + 1)}`

const policyOf = ({ enabled, types, apply_to, restore, phone_region }: RedactionPolicyData): RedactionPolicy | null => {
  const input = apply_to.includes('input')
  const toolArguments = apply_to.includes('tool_arguments')
  if (!enabled || types.length === 0 || !(input || toolArguments)) return null
  return policyBy({ types, input, toolArguments, restore, region: phone_region })
}
