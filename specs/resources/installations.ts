import { secretKeyOnly, secretKeyOrDashboard } from '../access.ts'
import { approvalPolicy, overlays } from '../agent-config.ts'
import { defineResource } from '../resource.ts'
import { defaulted, nullable, object, oneOf, optional, string } from '../schema.ts'

const reference = string({ minLength: 1, maxLength: 128 })
const version = string({ minLength: 1, maxLength: 128 })
const status = oneOf('active', 'disabled')

const resource = {
  path: '/v1/agent-installations',
  key: 'installation_id',
  idPrefix: 'ins',
  title: 'AgentInstallation',
  fields: {
    tenant_id: reference,
    agent_id: reference,
    /** Left out at creation: the newest published one. */
    version: nullable(version),
    agent_version_id: string(),
    status,
    overlays: defaulted(overlays, {}),
    /** Null: the tools' own wishes count. */
    approval_policy: nullable(approvalPolicy),
    rate_plan_id: nullable(reference),
    /** What a rollback goes to. */
    previous_version: nullable(string()),
  },
} as const

/** What a tenant has installed of an agent (interface "Agent platform"). */
const collection = defineResource('installations', {
  ...resource,
  writable: ['tenant_id', 'agent_id', 'version', 'overlays', 'approval_policy', 'rate_plan_id'],
  access: secretKeyOrDashboard('member'),
  operations: {
    list: {
      query: { tenant_id: optional(reference), agent_id: optional(reference), status: optional(status) },
    },
    create: { summary: 'Install an agent for a tenant', errors: ['not_found', 'version_not_published'] },
  },
})

/** The rows marked S. */
const single = defineResource('installations', {
  ...resource,
  writable: ['overlays', 'approval_policy', 'rate_plan_id', 'status'],
  access: secretKeyOnly,
  operations: {
    get: {},
    update: { summary: 'Change overlays, policy or rate plan, or enable it again' },
    delete: { summary: 'Disable: nothing of it runs any more', answersRow: true },
  },
  transitions: {
    upgrade: {
      summary: 'Go to another version, the newest published one unless named; runs in flight keep theirs',
      body: object({ version: optional(version) }),
      errors: ['invalid_transition', 'version_not_published'],
    },
    rollback: {
      summary: 'Go back to the version before',
      errors: ['invalid_transition'],
    },
  },
})

/** Installations of agents for tenants. */
export const installations = { ...collection, ...single } as const
