import { tenantAgent, type UsageData, usageRows } from '#gateway/ledger/usage-rows.ts'
import type { Row } from '#records/schema.ts'
import { idAt } from '#runtime/ids.ts'
import type { RecordStore } from '#storage/ports.ts'

/** Fields of a usage row that tests vary. */
export interface UsageSample extends Partial<UsageData> {
  readonly project?: string
  readonly tenant?: string | null
  /** ms since the epoch. */
  readonly at: number
}

const call: UsageData = {
  operation: 'run',
  provider: 'openai',
  model: 'gpt-1',
  agent_id: 'agt_1',
  installation_id: 'ins_1',
  session_id: null,
  run_id: 'run_1',
  rate_plan_id: null,
  tenant_agent: null,
  external_user_id: null,
  input_tokens: 100,
  output_tokens: 10,
  cached_tokens: 0,
  reasoning_tokens: 0,
  estimated: false,
  provider_cost_usd: '0.001',
  service_charge_usd: '0.001',
  billing_mode: 'managed',
  price_snapshot: null,
}

/** A usage row: by default a call of `gpt-1` in a run, for tenant `ten_1` of `prj_a`. */
export const usageRow = ({ project = 'prj_a', tenant = 'ten_1', at, ...data }: UsageSample): Row<UsageData> => ({
  id: idAt('use', at),
  project,
  tenant,
  user: data.external_user_id ?? null,
  version: 1,
  created_at: at,
  updated_at: at,
  expires_at: null,
  data: withKey(tenant, { ...call, ...data }),
})

const withKey = (tenant: string | null, data: UsageData): UsageData =>
  tenant === null || data.agent_id === null ? data : { ...data, tenant_agent: tenantAgent(tenant, data.agent_id) }

/** Writes usage like the ledger. */
export const putUsage = (records: RecordStore, samples: readonly UsageSample[]): Promise<void> =>
  records.project(samples.map((sample) => ({ kind: usageRows, record: usageRow(sample) })))
