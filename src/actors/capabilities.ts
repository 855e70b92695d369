import type { DeclaredInterface } from '#specs/index.ts'
import { savedViews } from '#specs/resources/console/saved-views.ts'
import { gateway } from '../gateway/gateway.ts'
import { guardrailResource } from '../gateway/guardrails/guardrails.ts'
import type { Chart, MachineDefinition } from '../machines/index.ts'
import { type RecordKind, writeProbes } from '../storage/index.ts'
import { accounts } from './accounts/accounts.ts'
import { lastingKeys } from './accounts/lasting-keys.ts'
import { agents } from './agents/agents.ts'
import { audit } from './audit/audit.ts'
import { importMarks } from './backup/import-mark.ts'
import { browser } from './browser/browser.ts'
import type { AnyCapability } from './capability/capability.ts'
import { plainResource } from './capability/plain-resource.ts'
import { clientTokens } from './client-tokens/client-tokens.ts'
import { connections } from './connections/connections.ts'
import { knowledge } from './knowledge/knowledge.ts'
import { mcp } from './mcp/mcp.ts'
import { memory } from './memory/memory.ts'
import { observation } from './observation/observation.ts'
import { operators } from './operators/operators.ts'
import { prompts, promptVersions } from './prompts/prompts.ts'
import { idempotencyKeys } from './records/idempotent.ts'
import type { AnyKind } from './records/schema.ts'
import { retention } from './retention/retention.ts'
import { runs } from './runs/runs.ts'
import { epochs, erasedActors, type Ledger, listedRows } from './runtime/internal.ts'
import { sessions } from './sessions/sessions.ts'
import { skillContents, skills } from './skills/skills.ts'
import { tenants } from './tenants/tenants.ts'
import { ratePlans } from './usage/rate-plans.ts'
import { usage } from './usage/usage.ts'
import { web } from './web/web.ts'
import { webhooks } from './webhooks/webhooks.ts'

/** All capabilities. To add one, create its folder and list it here, below those that it needs when it opens. */
export const capabilities = [
  audit,
  accounts,
  tenants,
  webhooks,
  guardrailResource,
  gateway,
  usage,
  ratePlans,
  plainResource({ declaration: savedViews, ofMember: true }),
  memory,
  prompts,
  promptVersions,
  agents,
  sessions,
  runs,
  skills,
  skillContents,
  clientTokens,
  knowledge,
  web,
  connections,
  browser,
  mcp,
  operators,
  observation,
  retention,
] as const satisfies readonly AnyCapability[]

const all: readonly AnyCapability[] = capabilities

/** All served operations, by id. */
export const operations: DeclaredInterface = Object.assign({}, ...capabilities.map((each) => each.operations))

const machines = all.flatMap((each) => each.machines ?? [])

/** Kinds of actors' list rows, by kind name. */
const ofActors = new Map(machines.flatMap(({ rows }) => (rows === undefined ? [] : [[rows.name, listedRows(rows)]])))

/** All kinds of records: a store is prepared for these, and a backup includes them. */
export const kinds: readonly AnyKind[] = [
  ...all.flatMap((each) => each.kinds).map((kind) => ofActors.get(kind.name) ?? kind),
  ...[epochs, erasedActors, idempotencyKeys, importMarks, lastingKeys, writeProbes],
]

/** All machines. */
export const definitions: readonly MachineDefinition[] = machines.map(({ definition }) => definition)

/** Charts for display: all machines, and further charts of capabilities. */
export const charts: readonly Chart[] = [...definitions, ...all.flatMap((each) => each.charts ?? [])]

/** Kinds of actors' list rows, by machine name. */
export const actorRows: Readonly<Record<string, RecordKind>> = Object.fromEntries(
  machines.flatMap(({ definition, rows }) =>
    rows === undefined ? [] : [[definition.name, ofActors.get(rows.name) ?? rows]],
  ),
)

const ledgers = all.flatMap((each) => each.ledger ?? [])

/** Derives all permanent rows of a commit. */
export const ledger: Ledger = (commit, owner) => ledgers.flatMap((rowsOf) => rowsOf(commit, owner))
