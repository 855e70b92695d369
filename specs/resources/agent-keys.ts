import { secretKeyOrConsole, secretKeyOrDashboard } from '../access.ts'
import { defineResource } from '../dsl/resource.ts'
import { array, defaulted, described, nullable, oneOf, string, timestamp } from '../dsl/schema.ts'
import { keyScopes } from '../reach/key-scopes.ts'

/** A host name, `*.` with a host name for its subdomains, or an origin; with a port unless it is the default one. */
const domain = string({
  maxLength: 256,
  pattern: '^(https?://)?(\\*\\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$',
})

/**
 * Keys for one agent, its sessions and runs. The key is shown once. A `public` key is for browsers: it cannot list
 * anything, and has no access to tenants' sessions.
 */
export const agentKeys = defineResource('agent_keys', {
  path: '/v1/agents/{agent_id}/keys',
  key: 'agent_key_id',
  idPrefix: 'key',
  title: 'AgentKey',
  description:
    'A key with access to one agent: its sessions and its runs. A `public` key is for browsers: it cannot list anything, and has no access to tenants.',
  fields: {
    agent_id: string(),
    name: string({ minLength: 1, maxLength: 256 }),
    environment: defaulted(oneOf('live', 'test'), 'live'),
    key_type: defaulted(oneOf('secret', 'public'), 'secret'),
    allowed_domains: described(
      defaulted(array(domain, { maxItems: 100 }), []),
      'Origins that requests may come from, such as `*.example.com`. If empty, any origin is allowed.',
    ),
    prefix: string({ description: 'First characters of the key.' }),
    last4: string({ description: 'Last four characters of the key.' }),
    created_by: nullable(string()),
    scopes: keyScopes,
    expires_at: nullable(timestamp()),
    last_used_at: nullable(timestamp()),
    revoked_at: nullable(timestamp()),
  },
  writable: ['name', 'environment', 'key_type', 'allowed_domains', 'scopes', 'expires_at'],
  access: secretKeyOrDashboard('admin'),
  operations: {
    list: { access: secretKeyOrDashboard('member') },
    create: {
      // the interface gives it to the owners of the dashboard
      access: { ...secretKeyOrConsole, console: 'owner' },
      status: 200,
      description:
        '`key` is returned only in this response. A key that is created with a limited key has at most its scopes.',
      shows: { key: string({ description: 'The key, shown once.' }) },
    },
    delete: { summary: 'Revoke an agent key', description: 'The key is refused immediately.', answersRow: true },
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly agentKeys: typeof agentKeys
  }
}
