import { anyObject, connectorType, reads, text, whole, word, writes } from './connector-type.ts'

const kind = word('contacts', 'companies', 'deals', 'tickets')

/** HubSpot. */
export const hubspot = connectorType({
  id: 'hubspot',
  name: 'HubSpot',
  description: 'Contacts, companies, deals and tickets of HubSpot.',
  auth: 'oauth2',
  base_url: 'https://api.hubapi.com',
  oauth: {
    authorization_url: 'https://app.hubspot.com/oauth/authorize',
    token_url: 'https://api.hubapi.com/oauth/v1/token',
    revocation_url: null,
    issuer: null,
    scopes: ['oauth', 'crm.objects.contacts.read', 'crm.objects.contacts.write'],
    token_auth_method: 'client_secret_post',
  },
  test: { method: 'GET', path: '/crm/v3/objects/contacts?limit=1' },
  tools: [
    reads({
      name: 'hubspot_search',
      description: 'Searches contacts, companies, deals or tickets.',
      method: 'POST',
      path: '/crm/v3/objects/{object}/search',
      takes: { object: kind, query: text('Words.'), 'limit?': whole('Most results.') },
    }),
    reads({
      name: 'hubspot_get',
      description: 'Returns a contact, company, deal or ticket.',
      path: '/crm/v3/objects/{object}/{id}',
      takes: { object: kind, id: text('Id of the object.') },
    }),
    writes({
      name: 'hubspot_create',
      description: 'Creates a contact, company, deal or ticket.',
      path: '/crm/v3/objects/{object}',
      takes: { object: kind, properties: anyObject('Properties by name.') },
    }),
    writes({
      name: 'hubspot_update',
      description: 'Changes properties of a contact, company, deal or ticket.',
      method: 'PATCH',
      path: '/crm/v3/objects/{object}/{id}',
      takes: { object: kind, id: text('Id of the object.'), properties: anyObject('Properties by name.') },
    }),
  ],
})
