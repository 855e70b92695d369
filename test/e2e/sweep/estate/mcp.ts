import type { EstatePart } from './estate-part.ts'

/** The estate of remote tool servers: one that refuses every caller, so that it is not retried. */
export const mcp: EstatePart = {
  make: async () => ({ tool_name: 'send' }),
  bodies: {
    'mcp_servers.create': ({ mark, hook, id }, n) => ({
      ...{ name: `${mark} ${n}`, url: `${hook}/closed`, tenant_id: id('tenant_id') },
    }),
  },
  common: ['tool_name'],
  atWork: ({ all }) => all('server_id').map((id) => `/v1/mcp/servers/${id}`),
  beyondSchema: {
    'mcp_servers.create': 'a URL as of webhooks, and headers that may be set',
    'mcp_servers.update': 'likewise',
    'mcp_servers.review_tool': 'a text of a path is in normalization form C',
  },
}
