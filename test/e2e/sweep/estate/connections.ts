import type { EstatePart } from './estate-part.ts'

/** The estate of connections to services. */
export const connections: EstatePart = {
  make: async () => ({ connector_id: 'github' }),
  bodies: {
    'connections.create': ({ mark, id }, n) => ({
      ...{ connector: 'stripe', name: `${mark} ${n}`, api_key: `key-0123456789-${n}`, tenant_id: id('tenant_id') },
    }),
  },
  common: ['connector_id'],
  noIds: ['client_id', 'connector_id'],
  beyondSchema: {
    'connections.create': 'a connector takes the fields of its config only, over https, and a document is OpenAPI',
    'connections.update': 'likewise',
    'connections.authorize': 'a redirect_uri is a URL with a host',
    'connections.callback': 'a state is one of a sign-in that was begun',
    'connections.issuer_callback': 'likewise, and an issuer is one of a discovered server',
    'connections.start': 'a link is one that was made',
    'connectors.credentials': 'a connector of the catalogue',
  },
}
