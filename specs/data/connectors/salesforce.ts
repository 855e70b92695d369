import { anyObject, connectorType, reads, text, writes } from './connector-type.ts'

/** Salesforce. */
export const salesforce = connectorType({
  id: 'salesforce',
  name: 'Salesforce',
  description: 'Records of a Salesforce organization.',
  auth: 'oauth2',
  base_url: '{instance_url}/services/data/v62.0',
  settings: ['instance_url'],
  oauth: {
    authorization_url: 'https://login.salesforce.com/services/oauth2/authorize',
    token_url: 'https://login.salesforce.com/services/oauth2/token',
    revocation_url: 'https://login.salesforce.com/services/oauth2/revoke',
    issuer: 'https://login.salesforce.com',
    scopes: ['api', 'refresh_token'],
    token_auth_method: 'client_secret_post',
  },
  test: { method: 'GET', path: '/limits' },
  tools: [
    reads({
      name: 'salesforce_query',
      description: 'Runs a query in SOQL.',
      path: '/query',
      takes: { q: text('Query in SOQL.') },
    }),
    reads({
      name: 'salesforce_get_record',
      description: 'Returns a record.',
      path: '/sobjects/{object}/{id}',
      takes: { object: text('Name of the object, such as Account.'), id: text('Id of the record.') },
    }),
    writes({
      name: 'salesforce_create_record',
      description: 'Creates a record.',
      path: '/sobjects/{object}',
      wholeBody: 'fields',
      takes: { object: text('Name of the object.'), fields: anyObject('Fields by name.') },
    }),
    writes({
      name: 'salesforce_update_record',
      description: 'Changes a record.',
      method: 'PATCH',
      path: '/sobjects/{object}/{id}',
      wholeBody: 'fields',
      takes: {
        object: text('Name of the object.'),
        id: text('Id of the record.'),
        fields: anyObject('Fields by name.'),
      },
    }),
  ],
})
