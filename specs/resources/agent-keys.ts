import { secretKeyOnly, secretKeyOrDashboard } from '../access.ts'
import { defineResource } from '../resource.ts'
import { array, defaulted, nullable, oneOf, string, timestamp } from '../schema.ts'

/** A host name, `*.` before one for all below it, or a whole origin; with a port where it is not the usual one. */
const domain = string({
  maxLength: 256,
  pattern: '^(https?://)?(\\*\\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$',
})

/**
 * Keys that reach one agent only: its sessions and its runs (interface "Authentication", agent-scoped key). The key
 * itself is shown once. A `public` one is for browsers: it lists nothing, and reaches no tenant's sessions.
 */
export const agentKeys = defineResource('agent_keys', {
  path: '/v1/agents/{agent_id}/keys',
  key: 'agent_key_id',
  idPrefix: 'key',
  title: 'AgentKey',
  fields: {
    agent_id: string(),
    name: string({ minLength: 1, maxLength: 256 }),
    environment: defaulted(oneOf('live', 'test'), 'live'),
    key_type: defaulted(oneOf('secret', 'public'), 'secret'),
    /** Where requests may come from, by their `Origin`; empty for anywhere. */
    allowed_domains: defaulted(array(domain, { maxItems: 100 }), []),
    prefix: string(),
    last4: string(),
    created_by: nullable(string()),
    expires_at: nullable(timestamp()),
    last_used_at: nullable(timestamp()),
    revoked_at: nullable(timestamp()),
  },
  writable: ['name', 'environment', 'key_type', 'allowed_domains', 'expires_at'],
  access: secretKeyOrDashboard('admin'),
  operations: {
    list: { access: secretKeyOrDashboard('member') },
    create: { access: secretKeyOnly, status: 200, shows: { key: string() } },
    delete: { summary: 'Revoke a key; it is refused at once', answersRow: true },
  },
})
