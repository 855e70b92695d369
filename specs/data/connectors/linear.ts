import { anyObject, connectorType, text, writes } from './connector-type.ts'

/** Linear. */
export const linear = connectorType({
  id: 'linear',
  name: 'Linear',
  description: 'Issues and projects of Linear, by GraphQL.',
  auth: 'oauth2',
  base_url: 'https://api.linear.app',
  oauth: {
    authorization_url: 'https://linear.app/oauth/authorize',
    token_url: 'https://api.linear.app/oauth/token',
    revocation_url: 'https://api.linear.app/oauth/revoke',
    issuer: null,
    scopes: ['read', 'write'],
    token_auth_method: 'client_secret_post',
  },
  test: null,
  tools: [
    writes({
      name: 'linear_graphql',
      description:
        'Runs a query or mutation of the GraphQL API of Linear, such as `{ issues(first: 20) { nodes { id title } } }`.',
      path: '/graphql',
      takes: { query: text('Query or mutation in GraphQL.'), 'variables?': anyObject('Variables of the query.') },
    }),
  ],
})
