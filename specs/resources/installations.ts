import { secretKeyOrConsole, secretKeyOrDashboard } from '../access.ts'
import { approvalPolicy, overlays } from '../agent-config.ts'
import { defineResource } from '../dsl/resource.ts'
import { defaulted, described, nullable, object, oneOf, optional, string } from '../dsl/schema.ts'

const reference = string({ minLength: 1, maxLength: 128 })
const version = string({ minLength: 1, maxLength: 128 })
const status = oneOf('active', 'disabled')

const resource = {
  path: '/v1/agent-installations',
  key: 'installation_id',
  idPrefix: 'ins',
  title: 'AgentInstallation',
  description: 'An agent version installed for a tenant.',
  fields: {
    tenant_id: reference,
    agent_id: reference,
    version: described(nullable(version), 'Version of the agent. Default: the newest published one.'),
    agent_version_id: string({ description: 'Id of the version.' }),
    status,
    overlays: defaulted(overlays, {}),
    approval_policy: described(
      nullable(approvalPolicy),
      'Approval policy. If null, `needsApproval` of each tool applies.',
    ),
    rate_plan_id: described(nullable(reference), 'Rate plan by which usage is charged.'),
    previous_version: nullable(string({ description: 'Version to which a rollback returns.' })),
  },
} as const

/** Operations on the collection of installations. */
const collection = defineResource('installations', {
  ...resource,
  writable: ['tenant_id', 'agent_id', 'version', 'overlays', 'approval_policy', 'rate_plan_id'],
  ofTenants: 'tenant',
  access: secretKeyOrDashboard('member'),
  operations: {
    list: {
      query: { tenant_id: optional(reference), agent_id: optional(reference), status: optional(status) },
    },
    create: {
      summary: 'Install an agent for a tenant',
      description:
        'Lets the tenant start sessions and runs of a published version of the agent, with the overlays and approval policy of the installation.',
      errors: ['not_found', 'version_not_published', 'prerequisites_missing'],
    },
  },
})

/** Operations on a single installation. */
const single = defineResource('installations', {
  ...resource,
  writable: ['overlays', 'approval_policy', 'rate_plan_id', 'status'],
  ofTenants: 'tenant',
  access: secretKeyOrConsole,
  operations: {
    get: { description: 'Returns the installation with the version that it is pinned to.' },
    update: {
      summary: 'Update an installation',
      description:
        'Changes the overlays, the approval policy and the rate plan, and re-enables a disabled installation.',
      errors: ['prerequisites_missing'],
    },
    delete: {
      summary: 'Disable an installation',
      description: 'A disabled installation cannot start new sessions or runs.',
      answersRow: true,
    },
  },
  transitions: {
    upgrade: {
      summary: 'Upgrade an installation',
      description:
        'Moves the installation to `version`, or to the newest published version. Runs in progress keep their version.',
      body: object({ version: optional(version) }),
      errors: ['invalid_transition', 'version_not_published', 'prerequisites_missing'],
    },
    rollback: {
      summary: 'Roll back an installation',
      description: 'Moves the installation back to `previous_version`.',
      errors: ['invalid_transition'],
    },
  },
})

/** Installations of agents for tenants. */
export const installations = { ...collection, ...single } as const

declare module '../index.ts' {
  interface Resources {
    readonly installations: typeof installations
  }
}
